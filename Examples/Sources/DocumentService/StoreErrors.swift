import CDTQuery
import Hummingbird

/// Answers errors of the store with their status, and a message.
struct StoreErrors<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as DatastoreError {
      // What is the service's own fault says nothing of its files.
      guard error.status < 500 else {
        context.logger.error("\(error.message)")
        throw HTTPError(error.code == .busy ? .serviceUnavailable : .internalServerError)
      }
      return .json(["error": .string(error.message)], status: .init(code: error.status))
    } catch let error as QueryError {
      return .json(["error": .string(error.description)], status: .badRequest)
    } catch let error as HTTPError {
      return .json(["error": .string(error.body ?? error.status.reasonPhrase)], status: error.status)
    }
  }
}

extension Response {
  /// An answer of JSON.
  static func json(_ object: JSONObject, status: HTTPResponse.Status = .ok) -> Response {
    var text: [UInt8] = []
    object.write(to: &text)
    return json(text, status: status)
  }

  /// An answer of JSON that is text already.
  static func json(_ text: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: "application/json"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: text)))
  }
}
