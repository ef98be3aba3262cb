#if Server
  import CDTPlatform
  import CDTServer
  import NIOSSL
  import Synchronization

  /// The certificate of a server and its private key. When the files are read again, connections that are open keep the old ones.
  final class Certificate: Sendable {
    private typealias Files = (chain: [NIOSSLCertificateSource], key: NIOSSLPrivateKeySource)

    private let chainPath, keyPath: String
    private let current: Mutex<Files>

    /// - Throws: ``ToolError`` or `ServerError` if the files can't be used.
    init(chain: String, key: String) throws {
      (chainPath, keyPath) = (chain, key)
      current = Mutex(try Self.read(chain, key))
    }

    /// Reads the files again.
    ///
    /// - Throws: ``ToolError`` or `ServerError` if they can't be used; new connections still get what was read before.
    func reload() throws {
      let new = try Self.read(chainPath, keyPath)
      current.withLock { $0 = new }
    }

    /// The configuration of a server that gives each new connection the newest certificate.
    var configuration: TLSConfiguration {
      let first = current.withLock { $0 }
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: first.chain, privateKey: first.key)
      configuration.sslContextCallback = { _, promise in
        let newest = self.current.withLock { $0 }
        var override = NIOSSLContextConfigurationOverride()
        override.certificateChain = newest.chain
        override.privateKey = newest.key
        promise.succeed(override)
      }
      return configuration
    }

    private static func read(_ chainPath: String, _ keyPath: String) throws -> Files {
      let chain = try reading(chainPath, "a certificate") { try NIOSSLCertificate.fromPEMFile(chainPath) }
      let key = try reading(keyPath, "a private key") { try NIOSSLPrivateKey(file: keyPath, format: .pem) }
      let files: Files = (chain.map { .certificate($0) }, .privateKey(key))
      do {
        // It checks that they belong together.
        _ = try NIOSSLContext(
          configuration: .makeServerConfiguration(certificateChain: files.chain, privateKey: files.key))
      } catch {
        throw ServerError.certificate("\(error)")
      }
      return files
    }

    /// Runs `body`, whose errors don't say which file they are about.
    private static func reading<R>(_ path: String, _ what: String, _ body: () throws -> R) throws -> R {
      do throws(SystemError) {
        _ = try OpenFile(path, for: .reading)
      } catch {
        throw ToolError.unreadable(path, error)
      }
      do {
        return try body()
      } catch {
        throw ToolError(.data, "\(path) is not a PEM file with \(what): \(error); check the path")
      }
    }
  }
#endif
