// JSON as it is read by people: in colors, with objects and arrays that can be folded.
import {el, revision, visible} from './dom.js'
import {isInline, isNumber, line} from './json.js'

/**
 * The lines of a value.
 *
 * @param limit The number of characters after which the rest is left out.
 * @param marked The paths of the members whose lines are marked.
 */
export function jsonView(value, {limit = Infinity, marked = [], ...attributes}) {
  const textsOf = paths => new Set(paths.map(path => JSON.stringify(path)))
  const budget = {left: limit, marked: textsOf(marked), around: textsOf(marked.flatMap(path => path.map((_, depth) => path.slice(0, depth + 1))))}
  return el('pre', {class: 'json', tabindex: '0', ...attributes}, nodes(value, '', [], '', budget, []))
}

function nodes(value, indent, before, after, budget, path) {
  if (budget.left <= 0) return null
  const isLine = isInline(value, indent)
  const attributes = budget.marked.size && (isLine ? budget.around : budget.marked).has(JSON.stringify(path)) ? {class: 'marked'} : {}
  if (isLine) return el('div', attributes, indent, before, inline(value, budget), after)
  const isObject = value instanceof Map
  const members = isObject ? [...value] : value.map(inner => [null, inner])
  const lines = []
  for (const [at, [name, inner]] of members.entries()) {
    if (budget.left <= 0) {
      lines.push(el('div', {}, `${indent}  …`))
      break
    }
    const key = isObject ? [token('key', JSON.stringify(name), budget), ': '] : []
    const comma = at < members.length - 1 ? ',' : ''
    const isRevision = !indent && name === '_rev' && typeof inner === 'string'
    lines.push(isRevision ? el('div', {}, indent, '  ', key, el('span', {class: 'string'}, '"', revision(inner), '"'), comma)
      : nodes(inner, indent + '  ', key, comma, budget, [...path, name ?? at]))
  }
  const [open, close] = isObject ? '{}' : '[]'
  const last = el('div', {}, indent, close, after)
  if (!indent) return [el('div', {}, before, open), lines, last]
  return el('details', {open: true, ...attributes}, el('summary', {}, indent, before, open), lines, last)
}

function token(kind, text, budget) {
  const shown = visible(text, Math.max(20, budget.left))
  budget.left -= text.length + 2
  return el('bdi', {class: kind}, shown)
}

/** A value on one line. */
function inline(value, budget) {
  const separated = parts => parts.flatMap((part, at) => at ? [', ', part] : [part])
  if (value instanceof Map) {
    return ['{', ...separated([...value].map(([name, inner]) => [token('key', JSON.stringify(name), budget), ': ', inline(inner, budget)])), '}']
  }
  if (Array.isArray(value)) return ['[', ...separated(value.map(inner => inline(inner, budget))), ']']
  const kind = typeof value === 'string' ? 'string' : isNumber(value) ? 'numeral' : 'word'
  return token(kind, line(value), budget)
}
