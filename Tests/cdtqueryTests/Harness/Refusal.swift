import Testing

/// Arguments that a command refuses, with the exit status and what it says.
struct Refusal: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let arguments: [String]
  let status: Int32
  let error: String
}
