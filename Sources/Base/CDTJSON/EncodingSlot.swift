/// The place of an encoded value. It is a shared reference, as a type may use several containers at the same time.
final class EncodingSlot {
  enum Content {
    case nothing
    case value(JSONValue)
    case array([EncodingSlot])
    case object([(key: String, slot: EncodingSlot)])
  }

  var content = Content.nothing

  /// The encoded value; `nil` if nothing was encoded. If a key was encoded twice, the last value is kept.
  var value: JSONValue? {
    switch content {
    case .nothing: return nil
    case .value(let value): return value
    case .array(let slots): return .array(slots.map { $0.value ?? [:] })
    case .object(let slots):
      var object = JSONObject()
      for (key, slot) in slots { object[key] = slot.value ?? [:] }
      return .object(object)
    }
  }

  /// Creates a slot for an element.
  func append() -> EncodingSlot {
    let slot = EncodingSlot()
    var slots: [EncodingSlot] = []
    if case .array(let known) = content { slots = known }
    content = .nothing  // so that the slots are not copied
    slots.append(slot)
    content = .array(slots)
    return slot
  }

  /// Creates a slot for a member.
  func append(_ key: String) -> EncodingSlot {
    let slot = EncodingSlot()
    var slots: [(key: String, slot: EncodingSlot)] = []
    if case .object(let known) = content { slots = known }
    content = .nothing  // so that the slots are not copied
    slots.append((key, slot))
    content = .object(slots)
    return slot
  }

  /// The number of elements.
  var count: Int {
    if case .array(let slots) = content { slots.count } else { 0 }
  }
}
