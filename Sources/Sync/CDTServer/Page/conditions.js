// A filter as it is typed: JSON, JSON without quotation marks, or conditions such as `total > 890 and state = "paid"`.
import {Fault, parse} from './json.js'
import {corrected} from './relaxed.js'

const operators = {'=': '$eq', '==': '$eq', '!=': '$ne', '>': '$gt', '>=': '$gte', '<': '$lt', '<=': '$lte', in: '$in'}
const tokens = /\s*(?:("(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*')|(!=|==|>=|<=|[=<>()])|(\[)|([^\s=<>!()[\]{}"']+)|(\S))/y

/** The selector that a text means. @throws Fault */
export function filterOf(text) {
  const trimmed = text.trim()
  if (!trimmed) return new Map()
  if (!trimmed.startsWith('{')) return conditions(text)
  try {
    return parse(text)
  } catch (error) {
    const meant = corrected(text)
    if (meant === null) throw error
    return parse(meant)
  }
}

/** Reads conditions that are joined by `and` and `or`, of which `and` binds closer. */
function conditions(text) {
  let at = 0
  const next = () => {
    tokens.lastIndex = at
    const found = tokens.exec(text)
    if (!found) return {kind: 'end', text: '', start: text.length, end: text.length}
    const [whole, string, sign, list, word] = found
    const end = tokens.lastIndex
    const token = string ?? sign ?? list ?? word ?? whole.trim()
    return {kind: string ? 'string' : sign ? 'sign' : list ? 'list' : word ? 'word' : 'other', text: token, start: end - token.length, end}
  }
  const fail = (message, token) => { throw new Fault(message, token.start, Math.max(token.end, token.start + 1)) }
  const isWord = (token, name) => token.kind === 'word' && token.text.toLowerCase() === name
  const joined = (name, part, join) => {
    const parts = [part()]
    while (isWord(next(), name)) {
      at = next().end
      parts.push(part())
    }
    return parts.length > 1 ? join(parts) : parts[0]
  }
  const either = () => joined('or', all, parts => new Map([['$or', parts]]))
  const all = () => joined('and', one, combined)
  const one = () => {
    const name = next()
    at = name.end
    if (name.text === '(' && name.kind === 'sign') {
      const inner = either()
      const end = next()
      if (end.text !== ')') fail('")" is missing', end)
      at = end.end
      return inner
    }
    if (name.kind !== 'word' && name.kind !== 'string') fail('a field is missing, as in total > 890 and state = "paid"', name)
    const sign = next()
    const operator = sign.kind === 'sign' || sign.kind === 'word' ? operators[sign.text.toLowerCase()] : undefined
    if (!operator) fail(`=, !=, <, <=, >, >= or in is missing after ${name.text}`, sign)
    at = sign.end
    const value = valueAfter(next())
    if (operator === '$in' && !Array.isArray(value)) fail('a list such as ["open", "paid"] is missing after in', sign)
    return new Map([[plain(name), operator === '$eq' && !(value instanceof Map) ? value : new Map([[operator, value]])]])
  }
  const plain = token => token.kind === 'string' ? unquoted(token) : token.text
  const unquoted = token => {
    if (token.text[0] === "'") return token.text.slice(1, -1).replace(/\\(['\\])/g, '$1')
    try {
      return JSON.parse(token.text)
    } catch {
      fail('a string has an invalid escape or a line break', token)
    }
  }
  const valueAfter = token => {
    at = token.end
    if (token.kind === 'string') return unquoted(token)
    if (token.kind === 'list') {
      const end = text.indexOf(']', token.start)
      if (end < 0) fail('"]" is missing', token)
      at = end + 1
      const list = text.slice(token.start, at)
      return parse(corrected(`{"a": ${list}}`) ?? `{"a": ${list}}`).get('a')
    }
    if (token.kind !== 'word') fail('a value is missing', token)
    if (/^(true|false|null)$/i.test(token.text)) return parse(token.text.toLowerCase())
    if (!/^[-+.\d]/.test(token.text)) return token.text
    try {
      return parse(token.text)
    } catch {
      // A day is a text; what may be a number or a text is not guessed.
      if (/^\d{4}-\d\d/.test(token.text)) return token.text
      return fail(`${token.text} can be a number or a text; write "${token.text}" for the text`, token)
    }
  }
  const whole = either()
  const rest = next()
  if (rest.kind !== 'end') fail('"and" or "or" is missing', rest)
  return whole
}

/** Selectors that must all hold, as one: with a member for each field if none stands twice for the same operator. */
function combined(selectors) {
  const merged = new Map()
  for (const selector of selectors) {
    for (const [name, condition] of selector) {
      const known = merged.get(name)
      if (known === undefined) merged.set(name, condition)
      else if (!(known instanceof Map && condition instanceof Map) || [...condition.keys()].some(key => known.has(key))) {
        return new Map([['$and', selectors]])
      } else merged.set(name, new Map([...known, ...condition]))
    }
  }
  return merged
}
