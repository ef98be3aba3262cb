import Glibc

/// The current process.
package enum CurrentProcess {
  /// Makes writes fail instead of ending the process: to a closed pipe, and beyond the limit of a file's size.
  package static func ignoreSignalsOfWrites() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// The number of files that the process can have open.
  package static var maximumDescriptors: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
    return Int(clamping: limit.rlim_cur)
  }

  /// Whether the process could open some more files now.
  package static func canOpen(files count: Int) -> Bool {
    guard let directory = opendir("/dev/fd") else { return errno == ENOENT }
    defer { closedir(directory) }
    // With the directory itself, and its two entries that are no files.
    var entries = 0
    while readdir(directory) != nil { entries += 1 }
    return entries - 3 + count <= maximumDescriptors
  }

  /// Lets the process have as many files open as an administrator allows. Systems start programs with a lower limit, for
  /// those that use `select`.
  package static func raiseMaximumDescriptors() {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(resource, &limit)
  }

  /// The directory of the program's file; `nil` if it can't be found out.
  package static var directory: String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0, count < buffer.count else { return nil }
    let path = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    return path.lastIndex(of: "/").map { String(path[..<$0]) }
  }

  /// Replaces this program by another one with arguments. Returns only if that fails.
  package static func become(_ path: String, _ arguments: [String]) -> SystemError {
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    execv(path, words)
    return SystemError(errno)
  }

  package static func exit(_ status: Int32) -> Never {
    Glibc.exit(status)
  }
}
