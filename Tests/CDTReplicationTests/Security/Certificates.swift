import CDTTestSupport
import Foundation
import NIOSSL

/// Certificates of a new authority, and of another one that is a stranger to it. They are made with openssl.
struct Certificates: Sendable {
  /// What a certificate is for.
  enum Name: String, Sendable {
    case authority, stranger
    /// A server at `localhost` and 127.0.0.1, and one at another name.
    case server, elsewhere
    /// A client that the authority knows, and one that only the stranger knows.
    case client, unknown
  }

  private struct Failure: Error {
    let output: String
  }

  private let directory: String

  init(in directory: String) throws {
    self.directory = directory
    let log = "\(directory)/openssl.log"
    let process = try SpawnedProcess(
      "/bin/bash", ["-c", "exec 2>&1\n\(Self.script)"], in: directory, output: .file(log))
    guard process.wait() == 0 else {
      throw Failure(output: try String(contentsOfFile: log, encoding: .utf8))
    }
  }

  private static let script = """
    set -e
    cat > openssl.cnf <<END
    [req]
    distinguished_name = name
    prompt = no
    [name]
    CN = test
    [authority]
    basicConstraints = critical,CA:TRUE
    [here]
    basicConstraints = critical,CA:FALSE
    subjectAltName = DNS:localhost,IP:127.0.0.1
    [there]
    basicConstraints = critical,CA:FALSE
    subjectAltName = DNS:elsewhere.example
    END
    make() {
      openssl req -config openssl.cnf -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
        -subj /CN=$1 -keyout $1.key -out $1.pem -extensions "${@:2}"
    }
    make authority authority
    make stranger authority
    make server here -CA authority.pem -CAkey authority.key
    make elsewhere there -CA authority.pem -CAkey authority.key
    make client there -CA authority.pem -CAkey authority.key
    make unknown there -CA stranger.pem -CAkey stranger.key
    """

  /// The file of a certificate.
  func file(_ name: Name) -> String { "\(directory)/\(name.rawValue).pem" }

  private func chain(_ name: Name) throws -> [NIOSSLCertificateSource] {
    try NIOSSLCertificate.fromPEMFile(file(name)).map { .certificate($0) }
  }

  private func key(_ name: Name) throws -> NIOSSLPrivateKeySource {
    .privateKey(try NIOSSLPrivateKey(file: "\(directory)/\(name.rawValue).key", format: .pem))
  }

  /// The settings of a server.
  ///
  /// - Parameter asks: Whether clients need a certificate of the authority.
  func server(_ name: Name = .server, asks: Bool = false) throws -> TLSConfiguration {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: try chain(name), privateKey: try key(name))
    if asks {
      tls.certificateVerification = .noHostnameVerification
      tls.trustRoots = .file(file(.authority))
    }
    return tls
  }

  /// The settings of a client that trusts the authority.
  func client(_ name: Name? = nil) throws -> TLSConfiguration {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(file(.authority))
    if let name {
      tls.certificateChain = try chain(name)
      tls.privateKey = try key(name)
    }
    return tls
  }
}
