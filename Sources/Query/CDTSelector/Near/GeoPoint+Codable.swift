extension GeoPoint: Codable {
  private enum CodingKeys: String, CodingKey { case type, coordinates }

  /// Decodes a GeoJSON Point, or an array of a longitude and a latitude.
  public init(from decoder: any Decoder) throws {
    func invalid(_ problem: String) -> DecodingError {
      .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
    }
    let numbers: [Double]
    let isPoint: Bool
    if let members = try? decoder.container(keyedBy: CodingKeys.self) {
      guard try members.decode(String.self, forKey: .type) == "Point" else {
        throw invalid("expected a GeoJSON Point; decode another type of geometry as a type of your own")
      }
      (numbers, isPoint) = (try members.decode([Double].self, forKey: .coordinates), true)
    } else {
      (numbers, isPoint) = (try decoder.singleValueContainer().decode([Double].self), false)
    }
    // A third number of a Point is the altitude.
    guard numbers.count == 2 || numbers.count == 3 && isPoint,
      let place = GeoPoint(longitude: numbers[0], latitude: numbers[1])
    else { throw invalid("expected a longitude of at most ±180 degrees and a latitude of at most ±90") }
    self = place
  }

  /// Encodes a GeoJSON Point.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode("Point", forKey: .type)
    try members.encode([longitude, latitude], forKey: .coordinates)
  }
}
