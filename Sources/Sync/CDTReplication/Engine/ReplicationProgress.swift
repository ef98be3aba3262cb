import CDTDatastore
import CDTJSON
import CDTPlatform
import Synchronization

/// The progress of a run, for those who watch it.
final class ReplicationProgress: Sendable {
  private struct State {
    var status = ReplicationStatus()
    /// The changes that each direction knows to follow, and what it is doing.
    var pending: [Bool: Int] = [:]
    var states: [Bool: ReplicationStatus.State] = [:]
    /// The revisions that are listed as rejected, so that each is listed once however often it is sent.
    var rejections: [Bool: Set<Rejection>] = [:]

    mutating func count(_ isPush: Bool, _ body: (inout ReplicationResult.Counts) -> Void) {
      if isPush { body(&status.result.pushed) } else { body(&status.result.pulled) }
    }
  }

  private struct Rejection: Hashable {
    private let id: KeyBytes
    private let revision: String

    init(_ rejected: RejectedRevision) {
      (id, revision) = (KeyBytes(rejected.id), rejected.revision)
    }
  }

  private let state: Mutex<State>
  private let report: @Sendable (ReplicationStatus) -> Void

  /// - Parameter directions: Whether to push, for each direction.
  init(_ directions: [Bool], _ report: @escaping @Sendable (ReplicationStatus) -> Void) {
    var state = State()
    for isPush in directions { state.states[isPush] = .running }
    self.state = Mutex(state)
    self.report = report
  }

  var result: ReplicationResult { state.withLock { $0.status.result } }

  private func change(_ body: (inout State) -> Void) {
    let status = state.withLock { state in
      let wasIdle = state.status.state == .idle
      body(&state)
      if wasIdle || state.status.state == .idle { state.status.caughtUp = .now }
      state.status.total = state.status.done + state.pending.values.reduce(0, +)
      return state.status
    }
    report(status)
  }

  /// Ends the run.
  func end() {
    change { state in
      if state.pending.values.allSatisfy({ $0 == 0 }) { state.status.caughtUp = .now }
      state.status.state = .stopped
      state.status.result.end = .now
    }
  }

  /// The progress in one direction.
  struct DirectionProgress: Sendable {
    let progress: ReplicationProgress
    let isPush: Bool

    var counts: ReplicationResult.Counts {
      isPush ? progress.result.pushed : progress.result.pulled
    }

    /// Changes the counts.
    ///
    /// - Parameter pending: The number of changes that are known to follow; `nil` if it is unchanged.
    func count(pending: Int? = nil, _ body: (inout ReplicationResult.Counts) -> Void) {
      progress.change { state in
        if let pending { state.pending[isPush] = pending }
        state.count(isPush, body)
      }
    }

    /// Notes the sequence from which the run continues.
    func begin(at sequence: JSONValue) {
      progress.change { state in
        state.count(isPush) { counts in
          counts.startSequence = counts.startSequence ?? sequence.shownSequence
          counts.lastSequence = sequence.shownSequence
        }
      }
    }

    /// Lists revisions that the target did not take.
    func reject(_ revisions: [RejectedRevision]) {
      guard !revisions.isEmpty else { return }
      progress.change { state in
        let new = revisions.filter { state.rejections[isPush, default: []].insert(Rejection($0)).inserted }
        var forgotten: ArraySlice<RejectedRevision> = []
        state.count(isPush) { counts in
          counts.rejectedCount += new.count
          counts.rejected += new
          guard counts.rejected.count > 2 * Self.rejectionsKept else { return }
          forgotten = counts.rejected.dropLast(Self.rejectionsKept)
          counts.rejected = counts.rejected.suffix(Self.rejectionsKept)
        }
        for revision in forgotten { state.rejections[isPush]?.remove(Rejection(revision)) }
      }
    }

    /// A continuous replication may have any number.
    private static let rejectionsKept = 10_000

    func become(_ new: ReplicationStatus.State) {
      progress.change { state in
        state.states[isPush] = new
        // The replication is idle when each of its directions is.
        let states = Array(state.states.values)
        state.status.state =
          states.first { if case .waiting = $0 { true } else { false } }
          ?? states.first { $0 == .running } ?? new
      }
    }

    func wait(for pause: Duration, reason: String) {
      count { $0.retries += 1 }
      become(.waiting(until: .now.addingTimeInterval(pause.seconds), reason: reason))
    }
  }
}

extension JSONValue {
  /// The text of a sequence, which some sources write as a number.
  var shownSequence: String { stringValue ?? text }
}
