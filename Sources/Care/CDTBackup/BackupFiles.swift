import CDTDatastore
import CDTJSON
import CDTPlatform

/// The files of a backup, and the keys that open them.
struct BackupFiles {
  let directory: String
  /// The keys of an encrypted backup.
  let keys: StoreKeys?

  init(directory: String, keys: StoreKeys?) {
    (self.directory, self.keys) = (directory, keys)
  }

  /// Opens a backup, which need not exist.
  ///
  /// - Throws: `DatastoreError`: `.wrongKey`, `.corrupt` if the file with the key is missing or damaged, `.io`.
  init(_ backup: Backup) throws {
    directory = backup.directory
    keys = try StoreKeys.ofBackup(in: directory, backup.encryption)
    guard keys == nil else { return }
    if try !Self.numbers(in: directory, areSealed: true).isEmpty {
      throw DatastoreError(.missingKeyFile("\(directory)/\(StoreKeys.fileNames[0])"))
    }
    if backup.encryption != nil, try Self.haveIncrements(in: directory) {
      throw DatastoreError(.keyForPlainStore(directory))
    }
  }

  /// An increment and what its header says.
  struct File {
    let path: String
    let keys: StoreKeys?
    let header: BackupHeader

    var increment: Backup.Increment {
      Backup.Increment(number: header.number, time: header.time, sequence: header.sequence)
    }
  }

  var attachments: AttachmentFiles {
    AttachmentFiles(directory: "\(directory)/attachments", storeName: directory, keys: keys)
  }

  func path(of number: Int) -> String { "\(directory)/\(Self.name(of: number, isSealed: keys != nil))" }

  private static func name(of number: Int, isSealed: Bool) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
      + (isSealed ? ".sealed" : ".jsonl")
  }

  /// The numbers of the increments that are there, in order.
  private static func numbers(in directory: String, areSealed: Bool) throws -> [Int] {
    guard try FileSystem.kind(of: directory) != nil else { return [] }
    return try FileSystem.names(in: directory).compactMap { file in
      guard let number = file.split(separator: ".").first.flatMap({ Int($0) }), number > 0 else { return nil }
      return name(of: number, isSealed: areSealed).hasSameBytes(as: file) ? number : nil
    }.sorted()
  }

  /// Whether a directory has increments, encrypted or not.
  static func haveIncrements(in directory: String) throws -> Bool {
    try !numbers(in: directory, areSealed: false).isEmpty || !numbers(in: directory, areSealed: true).isEmpty
  }

  /// Throws if the directory has other files and no backup: its files must not be mistaken for those of something else.
  static func check(_ directory: String) throws {
    let known = ["attachments", Backup.mirror] + StoreKeys.fileNames
    guard try !FileSystem.names(in: directory).allSatisfy({ known.contains($0) }),
      try !haveIncrements(in: directory)
    else { return }
    throw DatastoreError.notABackup(directory)
  }

  private func file(_ number: Int) throws -> File {
    let path = path(of: number)
    let header = try BackupHeader(ofFileAt: path, keys)
    guard header.number == number else {
      throw DatastoreError.damagedBackup(path, "its header has the number \(header.number)")
    }
    return File(path: path, keys: keys, header: header)
  }

  /// The files up to the first that is missing or damaged, and what is wrong with that one.
  func files() throws -> (intact: [File], damage: DatastoreError?) {
    var intact: [File] = []
    for (position, number) in try Self.numbers(in: directory, areSealed: keys != nil).enumerated() {
      guard number == position + 1 else {
        return (intact, DatastoreError.damagedBackup(path(of: position + 1), "it is missing"))
      }
      do {
        intact.append(try file(number))
      } catch let error as DatastoreError where [.corrupt, .notFound].contains(error.code) {
        return (intact, error)
      }
    }
    return (intact, nil)
  }

  /// The newest file; `nil` if there is no backup.
  ///
  /// - Throws: `DatastoreError` with the code `.corrupt` if a file is missing or damaged.
  func newest() throws -> File? {
    let (intact, damage) = try files()
    if let damage { throw damage }
    return intact.last
  }

  /// The files of a state.
  ///
  /// - Throws: `DatastoreError`: `.notFound` if the backup does not reach back so far, `.corrupt` if a file is missing or damaged that
  ///   the state may need.
  func files(upTo point: Backup.Point) throws -> ArraySlice<File> {
    let (files, damage) = try files()
    let end =
      switch point {
      case .newest: files.endIndex
      // The clock may have gone back between two states.
      case .time(let time): files.lastIndex { $0.header.time <= time }.map { $0 + 1 } ?? files.startIndex
      case .sequence(let sequence): files.firstIndex { $0.header.sequence > sequence } ?? files.endIndex
      }
    if end == files.endIndex, let damage {
      // A later state with the same sequence would be the one that is asked for, and may be behind the damage.
      guard end > 0, case .sequence(let sequence) = point, files[end - 1].header.sequence == sequence else {
        throw damage
      }
    }
    guard end > 0 else { throw DatastoreError.noBackup(directory, oldest: files.first?.increment) }
    return files[..<end]
  }
}
