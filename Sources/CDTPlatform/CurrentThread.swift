import CDTCPlatform

/// The current thread.
package enum CurrentThread {
  /// A number that is unique among running threads; never 0.
  package static var number: UInt { UInt(truncatingIfNeeded: cdt_thread_number()) }

  /// The processor time that the thread has used, in nanoseconds.
  package static var processorTime: Int64 { cdt_thread_processor_time() }
}
