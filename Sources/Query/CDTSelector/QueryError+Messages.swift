package import CDTJSON

// All messages about selectors and requests. A message says what is wrong and ends with the remedy.
extension QueryError {
  /// An error without its place.
  package enum Fault {
    // Selectors
    case notAnObject(JSONValue), invalidJSON(JSONError, what: String)
    case unknownOperator(String), operatorNeedsField(String), combinationUnderField(String)
    case emptyMember(String), emptyFieldValue, emptyComplement, emptyElementSelector(String)
    case mixedKeys(String, String), invalidPath(String, FieldPath.Fault)
    case wrongArgument(of: String, wanted: String, found: JSONValue), unknownType(String), notANumber
    case optionsWithoutRegex, unknownRegexOption(Character), regexRefused(RegularExpression.Refusal),
      regexTooLong
    case moduloCount(Int), moduloByZero
    case tooDeep, valueTooDeep, tooManyClauses
    case invalidSearch(TextSearch.Failure), textUnderNegation, secondText, textWithoutIndex
    case matchLimit(pattern: String, documentID: String), timedOut(Duration)
    // Rules
    case regexNotPortable(RegularExpression.Refusal)
    case notInRule(String), thenIsMissing, withoutIf(String), unknownReference(String), recursiveReference(
      String)
    case unknownRuleMember(String, known: [String]), otherLanguage(String), notADocument(JSONValue),
      readingRule(JSONValue)
    case onlyForWriting(String), misplacedOperand(String), documentFieldInRule(String), textInRule
    // Requests
    case notARequest(JSONValue), unknownRequestKey(String), requestWithoutSelector
    case notAWholeNumber(JSONValue, String), notABoolean(JSONValue, String)
    case notAnArray(JSONValue, String, wanted: String), notAPath(JSONValue), invalidUseIndex(JSONValue)
    case unknownCollation(JSONValue), invalidSnippets(JSONValue), snippetOption(String, least: Int)
    case snippetsWithoutText
    case invalidInclude(JSONValue), tooManyIncludes(Int, most: Int), nameOfInclude(String)
    case pathOfInclude(String), includeNotReturned(String), notIncluded(String)
    case notABookmark, bookmarkOfAnotherSort, bookmarkWithoutStore, backwardByScore, backwardLive
    // Sorts
    case tooManySortFields(Int, most: Int), notADirectedField(JSONValue), directedFieldKeys(Int)
    case unknownDirection(JSONValue, of: String), doubtfulField(String, WordDoubt)
    case scoreDirection(JSONValue), scoreAlone, scoreWithoutText, scoreOfOtherIndex(String), scoreInMemory
    case scoreOfAllDocuments
    case textIndexUnused(String)
    // Groups
    case groupIsMissing, invalidGroup(JSONValue, String), unknownGroupKey(String), groupWithoutMembers
    case tooManyGroupMembers(Int, String, most: Int), overlappingFields(String), unwoundDocumentField(String)
    case unknownAggregate(String, known: [String]), invalidAggregateName(String), repeatedMember(String)
    case notOfRows(String, members: [String]), unusableWithGroups(String, String), viewWithoutValue(String)
    // Files, models and changes
    case textInFile, revisionInFile
    case undecodableRow(JSONObject, any Any.Type, String), undecodableValue(JSONValue, any Any.Type, String)
    case notDecodable(any Any.Type), computedProperty(any Any.Type, of: any Any.Type)
    case reservedField, overlappingRename(String), invalidAmount(JSONValue), misfit(
      String, documentID: String)

    fileprivate var code: Code {
      switch self {
      case .unknownOperator, .operatorNeedsField, .combinationUnderField, .unknownAggregate: .unknownOperator
      case .notAnObject, .invalidJSON, .emptyMember, .emptyFieldValue, .emptyComplement, .mixedKeys,
        .thenIsMissing, .withoutIf, .unknownReference, .recursiveReference, .onlyForWriting, .textInRule:
        .invalidSelector
      case .emptyElementSelector, .wrongArgument, .unknownType, .notANumber, .optionsWithoutRegex,
        .unknownRegexOption, .moduloCount, .moduloByZero, .misplacedOperand:
        .invalidArgument
      case .invalidPath, .notDecodable, .computedProperty, .notInRule, .documentFieldInRule, .pathOfInclude:
        .invalidPath
      case .viewWithoutValue: .invalidIndex
      case .reservedField, .overlappingRename, .invalidAmount, .misfit: .invalidChange
      case .undecodableRow, .undecodableValue: .undecodable
      case .regexRefused, .regexTooLong, .regexNotPortable: .invalidRegex
      case .tooDeep, .valueTooDeep: .tooDeep
      case .tooManyClauses, .tooManySortFields, .tooManyGroupMembers, .tooManyIncludes: .tooLarge
      case .invalidSearch, .textUnderNegation, .secondText, .textWithoutIndex, .scoreInMemory,
        .scoreOfAllDocuments,
        .textInFile:
        .textSearch
      case .scoreOfOtherIndex, .textIndexUnused: .unknownIndex
      case .matchLimit: .matchLimit
      case .timedOut: .timedOut
      case .notARequest, .unknownRequestKey, .requestWithoutSelector, .notAWholeNumber, .notABoolean,
        .notAnArray, .notAPath, .invalidUseIndex, .unknownCollation, .invalidSnippets, .snippetOption,
        .snippetsWithoutText, .notABookmark, .bookmarkOfAnotherSort, .bookmarkWithoutStore, .backwardByScore,
        .backwardLive, .notADirectedField, .directedFieldKeys, .unknownDirection, .doubtfulField,
        .scoreDirection, .scoreAlone, .scoreWithoutText, .groupIsMissing, .invalidGroup, .unknownGroupKey,
        .groupWithoutMembers, .overlappingFields, .unwoundDocumentField, .invalidAggregateName,
        .repeatedMember, .notOfRows, .unusableWithGroups, .unknownRuleMember, .otherLanguage, .notADocument,
        .readingRule, .invalidInclude, .nameOfInclude, .includeNotReturned,
        .notIncluded, .revisionInFile:
        .invalidRequest
      }
    }

    /// The member that the error is always of; otherwise the whole query.
    fileprivate var place: String {
      switch self {
      case .unknownRequestKey(let key), .notAWholeNumber(_, let key), .notABoolean(_, let key),
        .notAnArray(_, let key, _), .unknownGroupKey(let key), .unusableWithGroups(let key, _):
        key
      case .requestWithoutSelector: "selector"
      case .invalidUseIndex, .scoreOfOtherIndex, .textIndexUnused: "use_index"
      case .invalidSnippets, .snippetsWithoutText: "snippets"
      case .invalidInclude, .tooManyIncludes, .nameOfInclude, .includeNotReturned: "include"
      case .snippetOption(let key, _): "snippets.\(key)"
      case .notABookmark, .bookmarkOfAnotherSort, .bookmarkWithoutStore: "bookmark"
      case .backwardByScore, .backwardLive: "backward"
      case .tooManySortFields: "sort"
      case .scoreInMemory, .scoreOfAllDocuments: "sort[0]"
      case .textWithoutIndex, .textInFile: "$text"
      case .revisionInFile: "_rev"
      case .viewWithoutValue: "map.value"
      case .matchLimit: "$regex"
      case .groupIsMissing: "group"
      case .groupWithoutMembers: "by"
      case .unwoundDocumentField: "unwind"
      default: ""
      }
    }

    fileprivate var message: String {
      switch self {
      case .notAnObject(let found):
        "a selector is an object such as {\"age\": {\"$gt\": 18}}, not \(found.typeWithArticle)"
      case .invalidJSON(let error, let what): "the \(what) is not JSON: \(error)"
      case .unknownOperator(let name): "unknown operator \"\(name)\"\(Self.remedy(of: name))"
      case .operatorNeedsField(let name):
        "\"\(name)\" tests a field's value; put it under a field: {\"field\": {\"\(name)\": …}}"
      case .combinationUnderField(let name):
        "\"\(name)\" is not allowed under a field; put it outside, around clauses that each name the field"
      case .emptyMember(let name): "\"\(name)\" contains an empty selector; remove it"
      case .emptyFieldValue:
        "{} has no condition; to match an empty object write {\"$eq\": {}}, to match any value {\"$exists\": true}"
      case .emptyComplement:
        "{} has no condition; write the condition that \"$not\" negates, such as {\"$eq\": {}} for an empty object"
      case .emptyElementSelector(let name):
        "{} has no condition; write one for \"\(name)\", such as {\"$exists\": true}"
      case .mixedKeys(let key, let other):
        "the operator \"\(key)\" and the name \"\(other)\" can't be in one object; write them as two clauses of \"$and\""
      case .invalidPath(let path, .emptySegment):
        "the path \"\(path)\" has an empty segment; name every segment; write \"\\.\" for a dot in a name"
      case .invalidPath(let path, .unescapedDollar)
      where path.splitBytes(at: ".").contains(where: OperatorNames.isPositional):
        "there are no positional operators; name an element of an array by its position, as in pets.0.name"
      case .invalidPath(_, .unescapedDollar(let remedy)):
        "a name that begins with a dollar sign must be escaped; write \"\(remedy)\""
      case .invalidPath(_, .tooLong):
        "the path has more than \(FieldPath.maximumSegments) segments; use a shorter one"
      case .wrongArgument(let name, let wanted, let found):
        "\"\(name)\" takes \(wanted), not \(found.typeWithArticle)"
          + (OperatorNames.instead(of: found).map { "; \($0)" } ?? "")
      case .unknownType(let name):
        "\"\(name)\" is not a type; use one of \(Self.list(JSONType.allCases, " "))"
      case .notANumber: "no document contains infinity or NaN; compare with a finite number"
      case .optionsWithoutRegex: "\"$options\" needs a \"$regex\" beside it; add one or remove \"$options\""
      case .unknownRegexOption(let option):
        "\"\(option)\" is not an option of \"$regex\"; use only the letters \"imsx\""
      case .regexRefused(let refusal):
        "the pattern does not compile: \(refusal.message) at offset \(refusal.offset); \(refusal.remedy)"
      case .regexNotPortable(let refusal):
        "devices and servers might decide the pattern differently: \(refusal.message) at offset \(refusal.offset); \(refusal.remedy)"
      case .regexTooLong:
        "the pattern is longer than \(RegularExpression.maximumLength) bytes; use a shorter one"
      case .moduloCount(let count): "\"$mod\" takes two numbers, [divisor, remainder], not \(count)"
      case .moduloByZero: "the divisor of \"$mod\" truncates to 0; use a divisor of 1 or more"
      case .tooDeep: "the selector is nested deeper than \(QuerySelector.maximumDepth) levels; flatten it"
      case .notInRule(let name):
        "a rule has newDoc, oldDoc, userCtx and security, not \"\(name)\"; write \"newDoc.\(name)\" for a member of the document"
      case .unknownRuleMember(let name, let known):
        "\"\(name)\" is not a member of rules; use \(known.map { "\"\($0)\"" }.joined(separator: " or "))"
      case .readingRule(let found):
        "an entry of \"read\" is an object such as {\"roles\": [\"*\"], \"selector\": {}}, not \(found.text.prefix(60))"
      case .notADocument(let found):
        "a write has objects such as {\"_id\": \"a\"}, not \(found.typeWithArticle)"
      case .otherLanguage(let id): "\(id) is in another language than \"query\"; choose another name"
      case .thenIsMissing: "\"$if\" needs a \"$then\" beside it; add what must hold"
      case .withoutIf(let name): "\"\(name)\" needs an \"$if\" beside it; add the condition"
      case .unknownReference(let name):
        "the design document has no member \"\(name)\"; define the selector there, or correct the path"
      case .recursiveReference(let name):
        "the definition \"\(name)\" refers to itself; write out the levels that documents have"
      case .onlyForWriting(let name): "\"\(name)\" belongs to rules of writing; remove it"
      case .misplacedOperand(let name):
        "\"\(name)\" is a whole operand, or a member of the array of \"$in\", \"$nin\", \"$all\" or \"$mod\"; move it"
      case .documentFieldInRule(let name):
        "\"\(name)\" can be compared with literals and with userCtx only; compare another field"
      case .textInRule:
        "a rule has no search for words, which needs an index; use \"$regex\" or \"$beginsWith\""
      case .valueTooDeep:
        "the value is nested deeper than \(JSONParsingOptions().maximumDepth) levels, the most that a document can have; flatten it"
      case .tooManyClauses:
        "the selector has more than \(QuerySelector.maximumClauses) clauses; use \"$in\" for many values of one field"
      case .invalidSearch(let failure): failure.message
      case .textUnderNegation:
        "\"$text\" is not allowed under \"$not\" or \"$nor\"; put it outside, and exclude words with NOT in the search"
      case .secondText:
        "a query can have only one \"$text\"; combine the searches with AND or OR in one \"$search\""
      case .textWithoutIndex:
        "\"$text\" needs a text index, and the datastore has none; create an index of type text"
      case .matchLimit(let pattern, let id):
        "the pattern \"\(pattern)\" exceeded the match limit on document \"\(id)\"; "
          + "rewrite it so that no two repetitions can match the same text, or begin it with \"^\""
      case .timedOut(let limit):
        "the query exceeded its time limit of \(limit); create an index for it, or allow more time"

      case .notARequest(let found):
        "a request is an object such as {\"selector\": {…}, \"limit\": 10}, not \(found.typeWithArticle)"
      case .unknownRequestKey(let key):
        "a request has no key \"\(key)\"; its keys are selector, sort, fields, skip, limit, use_index, collation, snippets, distance, bookmark, backward and include"
      case .requestWithoutSelector: "a request needs a selector; {} selects every document"
      case .notAWholeNumber(let found, let key):
        "\"\(key)\" must be a whole number, 0 or more, not \(found.text)"
      case .notABoolean(let found, let key):
        "\"\(key)\" must be true or false, not \(found.typeWithArticle)"
      case .notAnArray(let found, let key, let wanted):
        "\"\(key)\" must be \(wanted), not \(found.typeWithArticle)"
      case .notAPath(let found): "a field path must be a string, not \(found.typeWithArticle)"
      case .invalidUseIndex(let found):
        "\"use_index\" must be the name of one index, not \(found.typeWithArticle)"
      case .unknownCollation(let found):
        "\(found.text) is not a collation; use \(Self.list(Collation.allCases, " or "))"
      case .invalidSnippets(let found):
        "\"snippets\" must be true, or an object with words, limit, before and after, not \(found.text)"
      case .snippetOption(let key, _) where key == "before" || key == "after":
        "\(key) must have at most \(SnippetOptions.maximum) bytes"
      case .snippetOption(let key, let least):
        "\(key) must be a number from \(least) to \(SnippetOptions.maximum)"
      case .invalidInclude(let found):
        "\"include\" must be an object of names and paths, such as {\"owner\": \"ownerId\"}, not \(found.text)"
      case .tooManyIncludes(let count, let most):
        "a query includes documents under at most \(most) names, not \(count); keep the first ones"
      case .nameOfInclude(let name):
        "the name \"\(name)\" of included documents is empty, or given twice; use another one"
      case .pathOfInclude(let path): "the path \"\(path)\" is not one of a field with ids; name such a field"
      case .includeNotReturned(let remedy):
        "these results have no place for the documents that they include; \(remedy)"
      case .notIncluded(let path):
        "the query does not include the documents of \"\(path)\"; make it with including(_:as:) of this property"
      case .snippetsWithoutText: "snippets need a \"$text\" in the selector; add one, or leave them out"
      case .notABookmark:
        "this is not a bookmark of a result set; use one that a result set gave, or no bookmark for the first page"
      case .bookmarkOfAnotherSort:
        "the bookmark is of a query with another sort, collation or \"$near\"; use the same, or no bookmark for the first page"
      case .bookmarkWithoutStore: "bookmarks are for stores; use skip and limit"
      case .backwardByScore:
        "pages by score can't be read backwards; keep the bookmarks of the pages before, or sort by a field"
      case .backwardLive: "a live query can't be read backwards; reverse its sort instead"

      case .tooManySortFields(let count, let most):
        "a sort has at most \(most) fields, not \(count); keep the first ones"
      case .notADirectedField(let found):
        "a sort clause must be a field path or an object such as {\"age\": \"desc\"}, not \(found.typeWithArticle)"
      case .directedFieldKeys(let count):
        "a sort clause names one field and its direction, {\"age\": \"desc\"}, not \(count) fields; write one clause per field"
      case .unknownDirection(let found, let path):
        "the direction of \"\(path)\" must be \"asc\" or \"desc\", not \(found.text)"
      case .doubtfulField(let word, let doubt):
        "\"\(word)\" \(doubt.message); a field of that name is written \"\(word):asc\""
      case .scoreDirection(let found):
        "a sort by the score of \"$text\" is written {\"$text\": \"score\"}, not \(found.text)"
      case .scoreAlone:
        "a sort by the score of \"$text\" can't have other clauses; remove them, ties are sorted by _id"
      case .scoreWithoutText: "only a query with a \"$text\" outside \"$or\" has scores; sort by a field"
      case .scoreOfOtherIndex(let name):
        "a sort by the score of \"$text\" needs the text index, which \"\(name)\" is not; remove use_index"
      case .scoreOfAllDocuments:
        "a score depends on the words of all documents, of which rules withhold some from you; sort by a field"
      case .scoreInMemory: "a query over documents in memory has no text scores; remove the sort"
      case .textIndexUnused(let name):
        "\"\(name)\" is a text index, but the selector has no \"$text\"; name another index, or remove use_index"

      case .groupIsMissing: "a request for groups needs a group, such as {\"by\": [\"city\"]}"
      case .invalidGroup(let found, let wanted): "this must be \(wanted), not \(found.text)"
      case .unknownGroupKey(let key):
        "a group has no key \"\(key)\"; its keys are by, aggregates, unwind and having"
      case .groupWithoutMembers: "a group needs fields or aggregates; name a field"
      case .tooManyGroupMembers(let count, let members, let most):
        "a group has at most \(most) \(members), not \(count); use fewer"
      case .overlappingFields(let path): "\"\(path)\" overlaps another field of \"by\"; name one of them"
      case .unwoundDocumentField(let path): "\"\(path)\" is never an array; name a field of the documents"
      case .unknownAggregate(let name, let known):
        "unknown function \"\(name)\" (\(Self.meant(name, known) ?? "use \(known.dropLast().joined(separator: ", ")) or \(known.last ?? "")"))"
      case .invalidAggregateName(let name):
        "\(JSONValue.string(name).text) can't be the name of an aggregate; use one without dots, dollar signs and backslashes, such as total"
      case .repeatedMember(let name): "the rows already have a member \"\(name)\"; use another name"
      case .notOfRows(let name, let members):
        "the rows have no member \"\(name)\" (\(Self.meant(name, members) ?? "they have \(members.joined(separator: ", "))"))"
      case .unusableWithGroups(let key, let remedy): "\"\(key)\" can't be combined with groups; \(remedy)"
      case .viewWithoutValue(let reduce): "\(reduce) needs numbers; name their field as \"value\" of the map"

      case .textInFile:
        "\"$text\" needs a text index, which a file does not have; import the file into a store"
      case .revisionInFile:
        "the documents of a file have no revisions; leave out _rev, or import the file into a store"
      case .notDecodable(let type):
        "\(type) is not Decodable, so its names in documents are unknown; use a selector"
      case .computedProperty(let value, let type):
        "a property of \(type) of the type \(value) is computed, or observed, so documents "
          + "don't have it; use a stored property without observers, or a selector"
      case .undecodableRow(let row, let type, let reason):
        "the row \(row.text) can't be decoded as \(type): \(reason); give the property the name and the type of a member of the row, optional if documents can lack it"
      case .undecodableValue(let value, let type, let reason):
        "the value \(value.text) can't be decoded as \(type): \(reason); leave out its documents by the condition"
      case .reservedField:
        "names that begin with _ are the document's own and can't be changed; use another field"
      case .overlappingRename(let path):
        "\"\(path)\" is the field itself, in it or around it; name another path, or rename in two steps"
      case .invalidAmount(let amount): "the amount must be a number, not \(amount.typeWithArticle)"
      case .misfit(let message, let id): "document \"\(id)\": \(message)"
      }
    }

    private static func remedy(of name: String) -> String {
      if let instead = OperatorNames.instead(of: name) { return "; \(instead)" }
      return OperatorNames.nearest(to: name).map { " (did you mean \"\($0)\"?)" }
        ?? "; for a field name that begins with a dollar sign, write \"\\\(name)\""
    }

    private static func meant(_ name: String, _ names: [String]) -> String? {
      NearestName.of(name, among: names).map { "did you mean \"\($0)\"?" }
    }

    private static func list(_ values: [some RawRepresentable<String>], _ separator: String) -> String {
      values.map { "\"\($0.rawValue)\"" }.joined(separator: separator)
    }
  }

  package init(_ fault: Fault, at path: String? = nil) {
    self.init(fault.code, at: path ?? fault.place, fault.message)
  }

  /// Whether the remedy is a text index. The command line and the server say how to create it there.
  package var lacksTextIndex: Bool { self == QueryError(.textWithoutIndex) }
}

extension TextSearch.Failure {
  fileprivate var message: String {
    switch self {
    case .emptyParentheses: "() is empty; put words in the parentheses, or remove them"
    case .openQuote: "a quotation mark is not closed; close it"
    case .openParenthesis: "a parenthesis is not closed; close it, or quote it"
    case .closingParenthesis: "a closing parenthesis has no opening one; remove it, or quote it"
    case .missingOperand(let name):
      "\"\(name)\" has no word beside it; add one, or quote \"\(name)\" to search for it"
    case .invalidDistance(let name):
      "\"\(name)\" has no valid distance; write NEAR, or NEAR/5 for at most five words between"
    case .nearNeedsTerms: "NEAR joins words and phrases; remove the parentheses beside it"
    case .tooManyTerms: "the search has more than \(TextSearch.maximumTerms) words; shorten it"
    case .tooDeep: "parentheses are nested deeper than \(TextSearch.maximumDepth) levels; flatten them"
    }
  }
}

extension WordDoubt {
  fileprivate var message: String {
    switch self {
    case .direction(let meant): "is not a field and a direction; write \(meant)"
    case .several(let fields):
      "names \(fields.count) fields; give them one by one: \(fields.joined(separator: " "))"
    case .spaces(let meant): "has spaces around the name; write \(meant)"
    case .json: "is JSON, not the name of a field; write a field as age or age:desc"
    }
  }
}

extension JSONValue {
  /// The type of the value for a message: `a string`, `an array`.
  package var typeWithArticle: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .int, .double, .spelled: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
