// Elsewhere than on Apple's systems, Foundation is another module than the one with its small part.
@_exported public import FoundationEssentials
