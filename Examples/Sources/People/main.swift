import CDTQuery

struct Person: DocumentModel {
  var id: String
  var revision: RevisionID?
  var name: String
  var age: Int
}

let contacts = try DatastoreManager(directory: "data").datastore(named: "contacts")
try contacts.ensureIndexed(Person.self, \.age)

// The first run fills the store.
if try contacts.count(Person.self) == 0 {
  try contacts.save([
    Person(id: "mike", name: "Mike", age: 36), Person(id: "zoe", name: "Zoe", age: 12),
    Person(id: "anna", name: "Anna", age: 41),
  ])
}

for adult in try contacts.find(Person.self, where: { $0.age >= 18 }, sort: \.age.ascending) {
  print(adult.name, adult.age)
}
