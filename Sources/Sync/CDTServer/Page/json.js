// JSON as documents have it: objects are maps, which keep the order of their members and may have any names, and a number that
// JavaScript would write differently keeps its spelling.

/** A number with a spelling that JavaScript does not have for it, such as 1.0 or 9007199254740993. */
export class Numeral {
  constructor(text) { this.text = text }
}

/** What is wrong with a text, and where. */
export class Fault extends Error {
  constructor(message, start, end = start + 1) {
    super(message)
    this.start = start
    this.end = end
  }
}

const space = /[ \t\r\n]*/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const word = /true|false|null/y
const words = {true: true, false: false, null: null}

/**
 * Reads JSON.
 *
 * @param places Called with the path of each member and element, and the range of its name or of its value.
 * @throws Fault
 */
export function parse(text, places = () => {}) {
  let at = 0
  const skip = () => {
    space.lastIndex = at
    space.test(text)
    at = space.lastIndex
  }
  const take = pattern => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    at += found?.length ?? 0
    return found
  }
  const string = () => {
    const start = at
    let end = at
    do end = text.indexOf('"', end + 1); while (end > 0 && isEscaped(text, end))
    if (end < 0) throw new Fault('the string has no end', start, text.length)
    at = end + 1
    try {
      return JSON.parse(text.slice(start, at))
    } catch {
      throw new Fault('a string has an invalid escape or a line break', start, at)
    }
  }
  const list = (end, element) => {
    at++
    skip()
    if (text[at] === end) return at++
    for (let position = 0; ; position++) {
      element(position)
      skip()
      if (text[at] === end) return at++
      if (text[at] !== ',') throw new Fault(`"," or "${end}" is missing`, at)
      at++
      skip()
    }
  }
  const value = path => {
    skip()
    const start = at
    if (text[at] === '{') {
      const members = new Map()
      list('}', () => {
        if (text[at] !== '"') throw new Fault('a name in quotes is missing', at)
        const begin = at
        const name = string()
        if (members.has(name)) throw new Fault('the member is repeated', begin, at)
        const inner = [...path, name]
        places(inner, begin, at)
        skip()
        if (text[at] !== ':') throw new Fault('":" is missing', at)
        at++
        members.set(name, value(inner))
      })
      return members
    }
    if (text[at] === '[') {
      const elements = []
      list(']', position => {
        const [inner, begin] = [[...path, position], at]
        elements.push(value(inner))
        places(inner, begin, at)
      })
      return elements
    }
    if (text[at] === '"') return string()
    const digits = take(number)
    if (digits) return String(Number(digits)) === digits ? Number(digits) : new Numeral(digits)
    const name = take(word)
    if (name) return words[name]
    throw new Fault('a value is missing', start)
  }
  const whole = value([])
  skip()
  if (at < text.length) throw new Fault('the text goes on after the value', at, text.length)
  return whole
}

function isEscaped(text, at) {
  let before = at
  while (text[before - 1] === '\\') before--
  return (at - before) % 2 === 1
}

/** Writes a value on one line. */
export function line(value) {
  if (value instanceof Map) {
    return `{${[...value].map(([name, inner]) => `${JSON.stringify(name)}: ${line(inner)}`).join(', ')}}`
  }
  if (Array.isArray(value)) return `[${value.map(line).join(', ')}]`
  return value instanceof Numeral ? value.text : JSON.stringify(value)
}

/** The beginning of a value on one line. */
export function beginning(value, limit = 300) {
  const left = {count: limit}
  const write = value => {
    if (left.count <= 0) return '…'
    if (typeof value === 'string') value = value.slice(0, left.count + 1)
    const isObject = value instanceof Map
    if (isObject || Array.isArray(value)) {
      const parts = []
      for (const member of value) {
        if (left.count <= 0) break
        parts.push(isObject ? member.map(write).join(': ') : write(member))
      }
      return isObject ? `{${parts.join(', ')}}` : `[${parts.join(', ')}]`
    }
    const text = line(value)
    left.count -= text.length
    return text
  }
  return write(value)
}

/** Whether a value is written on one line: a short array or object within another, or what has no members. */
export function isInline(value, indent) {
  const isObject = value instanceof Map
  if (!isObject && !Array.isArray(value) || (isObject ? value.size : value.length) === 0) return true
  const members = isObject ? [...value.values()] : value
  return indent !== '' && members.length <= 8 && members.every(isShort)
}

/** Writes a value with a line for each member, and short arrays and objects on one. */
export function pretty(value, indent = '') {
  if (isInline(value, indent)) return line(value)
  const isObject = value instanceof Map
  const inner = indent + '  '
  const lines = isObject
    ? [...value].map(([name, member]) => `${inner}${JSON.stringify(name)}: ${pretty(member, inner)}`)
    : value.map(member => inner + pretty(member, inner))
  return (isObject ? '{\n' : '[\n') + lines.join(',\n') + `\n${indent}${isObject ? '}' : ']'}`
}

function isShort(value) {
  return typeof value === 'string' ? value.length <= 24 : value === null || typeof value !== 'object' || value instanceof Numeral
}

/** The same value with the beginnings of its long strings. */
export function shortened(value, limit) {
  if (typeof value === 'string' && value.length > limit) {
    return `${value.slice(0, limit).replace(/[\ud800-\udbff]$/, '')}… (${value.length.toLocaleString('en')} characters)`
  }
  if (value instanceof Map) return new Map([...value].map(([name, inner]) => [name, shortened(inner, limit)]))
  return Array.isArray(value) ? value.map(inner => shortened(inner, limit)) : value
}

export function areEqual(left, right) {
  if (left instanceof Map && right instanceof Map) {
    return left.size === right.size
      && [...left].every(([name, value]) => right.has(name) && areEqual(value, right.get(name)))
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((value, at) => areEqual(value, right[at]))
  }
  if (left instanceof Numeral && right instanceof Numeral) return left.text === right.text
  return left === right
}

/** Whether two fields are the same, of which each may be missing. */
export function isSame(value, other) { return value === undefined || other === undefined ? value === other : areEqual(value, other) }

export function isNumber(value) { return typeof value === 'number' || value instanceof Numeral }

/** A number as JavaScript has it; other values as they are. */
export function numberOf(value) { return value instanceof Numeral ? Number(value.text) : value }

/** A value as a Swift literal. */
export function swift(value) {
  if (value instanceof Map) {
    return value.size ? `[${[...value].map(([name, inner]) => `${quoted(name)}: ${swift(inner)}`).join(', ')}]` : '[:]'
  }
  if (Array.isArray(value)) return `[${value.map(swift).join(', ')}]`
  if (typeof value === 'string') return quoted(value)
  if (value === null) return 'nil'
  const text = line(value)
  // A literal is a 64-bit integer or a double.
  const isTooLarge = /^-?\d+$/.test(text) ? BigInt.asIntN(64, BigInt(text)) !== BigInt(text) : !isFinite(Number(text))
  return typeof value !== 'boolean' && isTooLarge ? `JSONValue(parsing: ${quoted(text)})` : text
}

function quoted(text) {
  const escapes = {'\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t'}
  const escaped = text.replace(/[\\"\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f]/g, character =>
    escapes[character] ?? `\\u{${character.charCodeAt(0).toString(16)}}`)
  return `"${escaped}"`
}
