/// The distance of two vectors of the same length.
public enum VectorMetric: String, Sendable, Hashable, CaseIterable {
  /// 1 − a·b ÷ (‖a‖‖b‖): 0 for the same direction, 2 for the opposite one.
  case cosine
  /// The length of the difference of the vectors.
  case euclidean
  /// −a·b, so that the largest product is the least distance.
  case dot
}
