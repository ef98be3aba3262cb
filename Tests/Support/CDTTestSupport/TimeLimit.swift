package import Testing

extension TimeLimitTrait.Duration {
  /// The limit of tests, except those that take as long as they are told to. Tests that only compute can hold every thread of Swift, so
  /// that one that waits often takes minutes.
  package static var usual: Self { .minutes(10) }
}
