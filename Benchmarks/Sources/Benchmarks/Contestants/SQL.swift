/// The yardstick's statements.
enum SQL: Int, CaseIterable {
  case begin, commit, insert, replace
  case named, id, oldest, ages, tagged, commented, namedOrSpecies, documents, fresh

  var text: String {
    switch self {
    case .begin: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .insert: "INSERT INTO docs (id, doc) VALUES (?1, ?2)"
    case .replace: "UPDATE docs SET doc = ?2 WHERE id = ?1"
    // A negative limit is none.
    case .named:
      """
      SELECT doc FROM docs
       WHERE json_extract(doc, '$.name') = ?1 AND json_extract(doc, '$.age') >= ?2 LIMIT ?3
      """
    case .id: "SELECT doc FROM docs WHERE id = ?1"
    case .oldest:
      """
      SELECT doc FROM docs
       WHERE json_extract(doc, '$.pet.species') = ?1 ORDER BY json_extract(doc, '$.age') DESC, id LIMIT 50
      """
    case .ages: "SELECT id FROM docs WHERE json_extract(doc, '$.age') BETWEEN ?1 AND ?2"
    case .tagged: "SELECT d.doc FROM tags t JOIN docs d ON d.number = t.doc WHERE t.tag = ?1 LIMIT ?2"
    case .commented:
      """
      SELECT doc FROM docs
       WHERE json_extract(doc, '$.score') > ?1 AND instr(json_extract(doc, '$.comment'), ?2) > 0 LIMIT ?3
      """
    case .namedOrSpecies:
      """
      SELECT id FROM docs
       WHERE json_extract(doc, '$.name') = ?1 AND json_extract(doc, '$.age') >= ?2
          OR json_extract(doc, '$.pet.species') = ?3
      """
    case .documents: "SELECT doc FROM docs LIMIT ?1"
    case .fresh: "SELECT doc FROM docs WHERE json_extract(doc, '$.name') = ?1"
    }
  }
}
