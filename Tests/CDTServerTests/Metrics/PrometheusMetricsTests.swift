import CDTServer
import CoreMetrics
import Testing

/// The text format of Prometheus.
@Suite struct PrometheusMetricsTests {
  private let metrics = PrometheusMetrics()

  @Test func `counters and gauges are written with their labels, sorted`() {
    metrics.describe("replies_total", as: .counter, "Replies, \\ and\nmore.")
    for (status, count) in [("404", 1), ("200", 3)] {
      let counter = Counter(label: "replies_total", dimensions: [("status", status)], factory: metrics)
      counter.increment(by: count)
    }
    Counter(label: "replies_total", dimensions: [("status", "200")], factory: metrics).increment()
    let feeds = Meter(label: "feeds", factory: metrics)
    feeds.increment()
    feeds.increment()
    feeds.decrement()
    Gauge(label: "ratio", factory: metrics).record(0.5)
    FloatingPointCounter(label: "seconds_total", factory: metrics).increment(by: 1.25)
    #expect(
      metrics.text == #"""
        # HELP feeds feeds
        # TYPE feeds gauge
        feeds 1
        # HELP ratio ratio
        # TYPE ratio gauge
        ratio 0.5
        # HELP replies_total Replies, \\ and\nmore.
        # TYPE replies_total counter
        replies_total{status="200"} 4
        replies_total{status="404"} 1
        # HELP seconds_total seconds_total
        # TYPE seconds_total counter
        seconds_total 1.25

        """#)
  }

  @Test func `a timer is a histogram in seconds, and a recorder a summary`() {
    let timer = Timer(label: "duration_seconds", dimensions: [("method", "GET")], factory: metrics)
    for milliseconds in [1, 3, 20_000] { timer.recordMilliseconds(milliseconds) }
    let lines = metrics.text.split(separator: "\n")
    for line in [
      #"duration_seconds_bucket{method="GET",le="0.001"} 1"#,
      #"duration_seconds_bucket{method="GET",le="0.0025"} 1"#,
      #"duration_seconds_bucket{method="GET",le="0.005"} 2"#,
      #"duration_seconds_bucket{method="GET",le="10"} 2"#,
      #"duration_seconds_bucket{method="GET",le="+Inf"} 3"#,
      #"duration_seconds_sum{method="GET"} 20.004"#, #"duration_seconds_count{method="GET"} 3"#,
    ] {
      #expect(lines.contains { $0 == line }, "\(line)")
    }
    let recorder = Recorder(label: "sizes", factory: metrics)
    recorder.record(3)
    recorder.record(4)
    #expect(metrics.text.hasSuffix("# TYPE sizes summary\nsizes_sum 7\nsizes_count 2\n"))
  }

  @Test func `names and labels are made what Prometheus allows`() {
    let counter = Counter(
      label: "1st.count-é", dimensions: [("a:b", "x\"\\\n"), ("", "é")], factory: metrics)
    counter.increment()
    #expect(
      metrics.text.split(separator: "\n").last
        == #"_1st_count___{a_b="x\"\\\n",_="é"} 1"#)
    Gauge(label: "odd", factory: metrics).record(Double.infinity)
    #expect(metrics.text.contains("\nodd +Inf\n"))
  }

  @Test func `an instrument of another kind under the same name changes nothing`() {
    let counter = Counter(label: "x", factory: metrics)
    counter.increment()
    let text = metrics.text
    Gauge(label: "x", factory: metrics).record(7)
    #expect(metrics.text == text)
  }

  @Test func `a destroyed database is forgotten`() {
    let gauge = Gauge(label: "x", dimensions: [("a", "1")], factory: metrics)
    Gauge(label: "x", dimensions: [("a", "2")], factory: metrics).record(2)
    gauge.record(1)
    gauge.destroy()
    #expect(metrics.text == "# HELP x x\n# TYPE x gauge\nx{a=\"2\"} 2\n")
  }
}
