#if Server
  import CDTServer

  extension UserFileError: ReportedError {
    var exitStatus: ExitStatus {
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
    var exitStatus: ExitStatus {
      switch code {
      case .users: cause?.exitStatus ?? .data
      case .certificate, .settings: .data
      case .addressInUse: .busy
      case .address: .cantCreate
      default: .usage
      }
    }
  }
#endif

#if Replication
  import CDTReplication

  extension ReplicationError: ReportedError {
    var exitStatus: ExitStatus {
      switch code {
      case .unreachable, .untrusted: .busy
      case .unauthorized, .forbidden: .notAuthorized
      case .notFound: .missing
      case .invalidRequest: .usage
      default: .data
      }
    }
  }
#endif
