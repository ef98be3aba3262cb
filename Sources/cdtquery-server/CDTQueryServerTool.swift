import ArgumentParser
package import CDTCommandLine
import CDTPlatform
import CDTReplication
import CDTServer

/// The commands of `cdtquery` that belong to the server. `cdtquery` starts this program for them.
@main
struct CDTQueryServerTool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cdtquery",
    abstract: "Serve stores over CouchDB's HTTP API, and replicate them.",
    version: Version.current,
    subcommands: [
      ReplicateCommand.self, ServeCommand.self, UserCommand.self, RemoteFindCommand.self,
      RemoteCountCommand.self, RemoteExplainCommand.self, RemoteGetCommand.self, RemoteChangesCommand.self,
      RemoteTestCommand.self, RemoteExportCommand.self, RemoteIndexCommand.self, RemoteImportCommand.self,
    ])

  static func main() async {
    // A reader may close the pipe early, which ends the output and is not an error.
    CurrentProcess.ignoreSignalsOfWrites()
    CopiedPageMessage.enable()
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      try Output.standard.flush()
    } catch {
      CurrentProcess.exit(report(error).rawValue)
    }
    CurrentProcess.exit(ExitStatus.done.rawValue)
  }
}

extension UserFileError: ReportedError {
  package var exitStatus: ExitStatus {
    switch code {
    case .missing, .noSuchUser: .missing
    case .invalidUser: .usage
    case .busy: .busy
    case .unreadable: .io
    case .unwritable: .cantCreate
    default: .data
    }
  }
}

extension ServerError: ReportedError {
  package var exitStatus: ExitStatus {
    switch code {
    case .users: cause?.exitStatus ?? .data
    case .certificate: .data
    case .addressInUse: .busy
    case .address: .cantCreate
    default: .usage
    }
  }
}

extension ReplicationError: ReportedError {
  package var exitStatus: ExitStatus {
    switch code {
    case .unreachable, .untrusted: .busy
    case .unauthorized, .forbidden: .notAuthorized
    case .notFound: .missing
    case .invalidRequest: .usage
    default: .data
    }
  }
}
