// `import CDTPlatform` also imports Foundation's types: on Linux those of the small module without ICU, which Apple's systems don't
// have. No other file imports FoundationEssentials.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
