import CDTJSON
import CDTRandomDocuments
import CDTTestSupport
import Testing

@testable import CDTSelector

/// The cells of places: what covers a region has all of it, and bounds of distances are bounds.
@Suite struct PlaceCellsTests {
  /// Places at the edges of the grid and anywhere, and places a little away from another.
  private struct Places {
    var random: RandomDocuments

    mutating func next(near other: GeoPoint? = nil) -> GeoPoint {
      let longitude: Double
      let latitude: Double
      if let other, random.chance(70) {
        let away = random.pick([0, 1e-13, 1e-8, 2e-6, 6e-6, 1e-4, 0.01, 1, 30])
        longitude = other.longitude + away * random.pick([-1, -0.3, 0, 0.7, 1])
        latitude = other.latitude + away * random.pick([-1, -0.3, 0, 0.7, 1])
      } else {
        longitude =
          random.chance(40) ? random.pick([-180, 180, 0, 90, 179.999_999, -179.999_999]) : part(360)
        latitude = random.chance(40) ? random.pick([-90, 90, 0, 89.999_999, -89.999_999, 45]) : part(180)
      }
      // Around the earth, and not beyond the poles.
      let around = longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
      return GeoPoint(longitude: around, latitude: min(90, max(-90, latitude))) ?? next()
    }

    mutating func part(_ whole: Double) -> Double {
      whole * (Double(random.number(below: 1 << 40)) / Double(1 << 40) - 0.5)
    }

    mutating func region(near place: GeoPoint) -> GeoRegion {
      switch random.number(below: 3) {
      case 0:
        let (first, second) = (next(near: place), next(near: place))
        let longitudes = [first.longitude, second.longitude].sorted()
        let latitudes = [first.latitude, second.latitude].sorted()
        guard let southWest = GeoPoint(longitude: longitudes[0], latitude: latitudes[0]),
          let northEast = GeoPoint(longitude: longitudes[1], latitude: latitudes[1])
        else { return region(near: place) }
        return .box(southWest: southWest, northEast: northEast)
      case 1: return .polygon((0..<(3 + random.number(below: 4))).map { _ in next(near: place) })
      default:
        let other = next(near: place)
        let angle = place.angle(to: other)
        return .sphere(
          other, radius: random.pick([angle, angle.nextDown, angle.nextUp, 0, 1e-9, 1e-6, 0.1, 2, .pi, 10]))
      }
    }
  }

  @Test(arguments: 0..<8) func `the ranges of a region have the cell of each place in it`(round: UInt64) {
    var places = Places(random: RandomDocuments(seed: testSeed(9_200 + round)))
    var inside = 0
    for _ in 0..<1_000 {
      let place = places.next()
      let region = places.region(near: place)
      let ranges = region.cellRanges
      #expect(ranges.count <= PlaceCells.maximumRanges)
      #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
      for other in [place, places.next(near: place), places.next()] where region.contains(other) {
        inside += 1
        let cell = PlaceCells.number(of: other)
        #expect(ranges.contains { $0.contains(cell) }, "\(other) in \(region)")
      }
    }
    #expect(inside > 100)
  }

  @Test(arguments: 0..<8) func `no distance is less than the bound of a quadrant`(round: UInt64) throws {
    var places = Places(random: RandomDocuments(seed: testSeed(9_210 + round)))
    for _ in 0..<200 {
      let (place, other) = (places.next(), places.next())
      for end in [other, places.next(near: place), antipode(of: place)] {
        let (cell, metres) = (PlaceCells.number(of: end), place.metres(to: end))
        var quadrant: PlaceQuadrant? = .all
        var last = 0.0
        while let next = quadrant {
          last = next.leastMetres(from: place)
          #expect(last <= metres, "\(place) to \(end)")
          quadrant = next.parts.first { $0.numbers.contains(cell) }
        }
        // That of a cell is near: within three metres, except near the antipode, where rounding is greater.
        if metres < 1e7 { #expect(metres - last < 3, "\(place) to \(end)") }
        #expect(PlaceQuadrant(cell: cell).leastMetres(from: place) == last)
      }
    }
  }

  private func antipode(of place: GeoPoint) -> GeoPoint {
    GeoPoint(longitude: place.longitude - (place.longitude > 0 ? 180 : -180), latitude: -place.latitude)
      ?? place
  }

  @Test func `a small box has few other cells in its ranges`() throws {
    let southWest = try #require(GeoPoint(longitude: 8.5, latitude: 47.3))
    let northEast = try #require(GeoPoint(longitude: 8.6, latitude: 47.4))
    let ranges = GeoRegion.box(southWest: southWest, northEast: northEast).cellRanges
    let cells = ranges.reduce(0) { $0 + $1.count }
    let area = (0.1 / 360 * Double(1 << 26)) * (0.1 / 180 * Double(1 << 26))
    #expect(Double(cells) < 2 * area)
  }
}
