import CDTQuery

struct Person: Codable {
  var name: String
  var age: Int
}

let manager = try DatastoreManager(directory: "data")
let contacts = try manager.datastore(named: "contacts")

// The first run fills the store.
if try contacts.read({ try $0.documentCount() }) == 0 {
  for person in [
    Person(name: "Mike", age: 36), Person(name: "Zoe", age: 12), Person(name: "Anna", age: 41),
  ] {
    try contacts.createDocument(from: DocumentDraft(id: person.name, encoding: person))
  }
}

try contacts.ensureIndexed(["age"])
for person in try contacts.find(Person.self, ["age": ["$gte": 18]], sort: ["age"]) {
  print(person.name, person.age)
}
