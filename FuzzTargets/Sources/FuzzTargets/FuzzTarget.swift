/// The check of one input. A property that does not hold ends the process.
///
/// The names are those of the directories in `FuzzTargets/Corpus`.
package enum FuzzTarget: String, CaseIterable, Sendable {
  case json, selector, query, text, regex, `import`, csv, revision, fixture, catalog, store, recover, sealed,
    touchdb

  package func run(_ input: [UInt8]) {
    do {
      switch self {
      case .json: try JSONTarget.run(input)
      case .selector: try SelectorTarget.run(input)
      case .query: try QueryTarget.run(input)
      case .text: try TextTarget.run(input)
      case .regex: try RegexTarget.run(input)
      case .import: try ImportTarget.json(input)
      case .csv: try ImportTarget.csv(input)
      case .revision: try RevisionTarget.run(input)
      case .fixture: try FixtureTarget.run(input)
      case .catalog: try CatalogTarget.run(input)
      case .store: try StoreTarget.run(input)
      case .recover: try RecoverTarget.run(input)
      case .sealed: try SealedTarget.run(input)
      case .touchdb: try TouchDBTarget.run(input)
      }
    } catch {
      expectTyped(error)
    }
  }
}
