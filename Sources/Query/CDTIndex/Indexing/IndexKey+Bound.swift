extension IndexKey {
  /// A bound of a range: a key, or all keys of a type.
  package enum Bound: Sendable, Hashable {
    case key(IndexKey, inclusive: Bool)
    case tag(Tag)
  }
}

extension IndexKey.Bound {
  var isString: Bool { if case .key(let key, _) = self { key.tag == .string } else { false } }

  package func isAtOrBelow(_ key: IndexKey) -> Bool {
    switch self {
    case .key(let bound, let inclusive): inclusive ? bound <= key : bound < key
    case .tag(let tag): tag <= key.tag
    }
  }

  package func isAtOrAbove(_ key: IndexKey) -> Bool {
    switch self {
    case .key(let bound, let inclusive): inclusive ? bound >= key : bound > key
    case .tag(let tag): tag >= key.tag
    }
  }

  /// Whether this bound comes before the other; both are lower bounds or both are upper bounds.
  package func isLowerThan(_ other: IndexKey.Bound, asLower: Bool) -> Bool {
    switch (self, other) {
    case (.tag(let left), .tag(let right)): return left < right
    case (.tag(let left), .key(let right, _)): return asLower ? left <= right.tag : left < right.tag
    case (.key(let left, _), .tag(let right)): return asLower ? left.tag < right : left.tag <= right
    case (.key(let left, let leftInclusive), .key(let right, let rightInclusive)):
      if left != right { return left < right }
      return asLower ? leftInclusive && !rightInclusive : !leftInclusive && rightInclusive
    }
  }
}
