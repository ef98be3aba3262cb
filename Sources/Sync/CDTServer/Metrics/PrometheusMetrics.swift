import CDTPlatform
public import CoreMetrics
import Synchronization

/// Collects what is recorded with swift-metrics, and writes it in the text format of Prometheus.
///
/// A server has one of its own for `/_metrics`. If the process has one as its backend of swift-metrics, its servers use that, and
/// `/_metrics` also has what other libraries record, such as the replications of the process:
///
/// ```swift
/// MetricsSystem.bootstrap(PrometheusMetrics())
/// ```
///
/// Timers become histograms in seconds, and recorders summaries without quantiles. What Prometheus does not allow in a name becomes
/// `_`. Of instruments with the same name, only those of the kind that came first are written.
public final class PrometheusMetrics: MetricsFactory {
  private struct Family {
    let kind: PrometheusSeries.Kind
    var help: String
    var series: [PrometheusSeries] = []
  }

  private let families = Mutex<[String: Family]>([:])

  /// Creates a collection without metrics.
  public init() {}

  /// The metrics in the text format of Prometheus, version 0.0.4, sorted by name.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of metrics.
  public var text: String {
    var text = ""
    for (name, family) in families.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      text += "# HELP \(name) \(family.help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n"))\n"
      text += "# TYPE \(name) \(family.kind.rawValue)\n"
      for series in family.series.sorted(by: { $0.labels < $1.labels }) { text += series.text }
    }
    return text
  }

  /// Says what the metrics with a name are. Without it, their description is their name.
  package func describe(_ name: String, as kind: PrometheusSeries.Kind, _ help: String) {
    families.withLock { $0[name, default: Family(kind: kind, help: help)].help = help }
  }

  /// The values of the metrics with a name, by their labels as they are written; of histograms, the number of values.
  package func values(of name: String) -> [String: Double] {
    let series = families.withLock { $0[name]?.series ?? [] }
    return Dictionary(series.map { ($0.labels, $0.value) }) { first, _ in first }
  }

  private func series(
    _ kind: PrometheusSeries.Kind, _ label: String, _ dimensions: [(String, String)]
  ) -> PrometheusSeries {
    let series = PrometheusSeries(kind, name: label, dimensions)
    return families.withLock { families in
      var family = families[series.name] ?? Family(kind: kind, help: series.name)
      guard family.kind == kind else { return series }
      if let known = family.series.first(where: { $0.labels == series.labels }) { return known }
      family.series.append(series)
      families[series.name] = family
      return series
    }
  }

  private func remove(_ handler: AnyObject) {
    guard let series = handler as? PrometheusSeries else { return }
    families.withLock { $0[series.name]?.series.removeAll { $0 === series } }
  }

  // MARK: MetricsFactory

  /// Makes a counter.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(.counter, label, dimensions)
  }

  /// Makes a counter.
  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    series(.counter, label, dimensions)
  }

  /// Makes a gauge.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(.gauge, label, dimensions)
  }

  /// Makes a summary, or a gauge if the recorder does not aggregate.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    series(aggregate ? .summary : .gauge, label, dimensions)
  }

  /// Makes a histogram.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(.histogram, label, dimensions)
  }

  /// Forgets a counter.
  public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
  /// Forgets a counter.
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
  /// Forgets a gauge.
  public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
  /// Forgets a summary or a gauge.
  public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
  /// Forgets a histogram.
  public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }
}

/// The recorded values of the instruments with a name and labels.
package final class PrometheusSeries: Sendable {
  package enum Kind: String, Sendable {
    case counter, gauge, histogram, summary
  }

  private struct State {
    var value = 0.0
    /// The number of values of a histogram or a summary, and of those in each bucket of a histogram.
    var count = 0
    var buckets: [Int] = []
  }

  /// The upper bounds of a histogram's buckets in seconds.
  private static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  let kind: Kind
  let name: String
  /// Such as `method="GET",status="200"`.
  let labels: String
  private let state: Mutex<State>

  fileprivate init(_ kind: Kind, name: String, _ dimensions: [(String, String)]) {
    self.kind = kind
    self.name = Self.name(name, allowsColon: true)
    labels = dimensions.map { #"\#(Self.name($0, allowsColon: false))="\#(Self.escaped($1))""# }
      .joined(separator: ",")
    state = Mutex(State(buckets: kind == .histogram ? Self.bounds.map { _ in 0 } : []))
  }

  private static func name(_ text: String, allowsColon: Bool) -> String {
    let bytes = text.utf8.map { byte in
      byte.isLetter || byte.isDigit || allowsColon && byte == UInt8(ascii: ":") ? byte : UInt8(ascii: "_")
    }
    return (bytes.first?.isDigit != false ? "_" : "") + String(decoding: bytes, as: UTF8.self)
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  /// Adds to a counter or a gauge.
  private func add(_ amount: Double) {
    state.withLock { $0.value += amount }
  }

  /// Adds a value to a histogram or a summary.
  private func observe(_ value: Double) {
    let bucket = kind == .histogram ? Self.bounds.firstIndex { value <= $0 } : nil
    state.withLock { state in
      state.value += value
      state.count += 1
      if let bucket { state.buckets[bucket] += 1 }
    }
  }

  var value: Double {
    state.withLock { kind == .counter || kind == .gauge ? $0.value : Double($0.count) }
  }

  /// The lines of the series.
  var text: String {
    let state = state.withLock { $0 }
    guard kind == .histogram || kind == .summary else {
      return "\(name)\(braced(labels)) \(Self.text(state.value))\n"
    }
    var (text, sum) = ("", 0)
    for (bound, count) in zip(Self.bounds, state.buckets) {
      sum += count
      text += bucket(Self.text(bound), sum)
    }
    if kind == .histogram { text += bucket("+Inf", state.count) }
    text += "\(name)_sum\(braced(labels)) \(Self.text(state.value))\n"
    text += "\(name)_count\(braced(labels)) \(state.count)\n"
    return text
  }

  private func bucket(_ bound: String, _ count: Int) -> String {
    let bound = #"le="\#(bound)""#
    return "\(name)_bucket\(braced(labels.isEmpty ? bound : "\(labels),\(bound)")) \(count)\n"
  }

  private func braced(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

  private static func text(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return "\(whole)" }
    return value.isInfinite ? (value < 0 ? "-Inf" : "+Inf") : value.isNaN ? "NaN" : "\(value)"
  }
}

extension PrometheusSeries: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler,
  TimerHandler
{
  package func increment(by amount: Int64) { add(Double(amount)) }
  package func increment(by amount: Double) { add(amount) }
  package func decrement(by amount: Double) { add(-amount) }
  package func reset() { set(0.0) }
  package func set(_ value: Int64) { set(Double(value)) }
  package func set(_ value: Double) { state.withLock { $0.value = value } }
  package func record(_ value: Int64) { record(Double(value)) }
  package func record(_ value: Double) { if kind == .gauge { set(value) } else { observe(value) } }
  package func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1e9) }
}
