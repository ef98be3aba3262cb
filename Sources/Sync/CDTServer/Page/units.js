// Groups by the beginning of a text: times by year, month, day or hour, and texts by their first letters. The engine groups by whole values.
import {line, Numeral, numberOf} from './json.js'
import {valueAt} from './grid.js'

/** More groups of whole values are not fetched. */
export const maximumFetched = 20_000
/** A time is grouped by the shortest unit that makes no more groups. */
const fewGroups = 60
/** Gaps of a chart over time are filled if it then has at most so many points. */
const maximumFilled = 1_000

/** The units by their names, with their lengths in characters. */
const lengths = {year: 4, month: 7, day: 10, hour: 13}
const letters = {'first letter': 1, 'first 2 letters': 2, 'first 3 letters': 3}
export const units = ['whole value', ...Object.keys(lengths), ...Object.keys(letters)]

export function isTime(value) { return typeof value === 'string' && /^\d{4}-\d\d-\d\d([T ]\d\d|$)/.test(value) }

export function isTimeUnit(unit) { return unit in lengths }

/** The beginning of a value in a unit; undefined if it has none. */
function beginningOf(value, unit) {
  if (unit in lengths) return isTime(value) ? value.slice(0, lengths[unit]) : undefined
  return typeof value === 'string' && value ? [...value.slice(0, 12)].slice(0, letters[unit]).join('') : undefined
}

/** The unit for values of which most are times; `whole value` for others. */
export function unitFor(values) {
  const times = values.filter(isTime)
  if (times.length * 2 <= values.length) return 'whole value'
  const number = unit => new Set(times.map(value => beginningOf(value, unit))).size
  return number('hour') === times.length && times.length <= fewGroups ? 'whole value'
    : ['hour', 'day', 'month'].find(unit => number(unit) <= fewGroups) ?? 'year'
}

/** The aggregates of groups of whole values that can be combined, under names of the caller. */
export function partsOf(show, field, [value, number, sum]) {
  const aggregate = (name, path) => [name, new Map([[path, field]])]
  if (show === 'count') return [[value, new Map([['$count', new Map()]])]]
  if (show !== 'average') return [aggregate(value, {sum: '$sum', least: '$min', greatest: '$max'}[show])]
  return [aggregate(value, '$avg'), [number, new Map([['$count', new Map()]])], aggregate(sum, '$sum')]
}

/** Combines rows of whole values: `{key, prefix, value}` for each beginning, or for each value that has none. */
export function combined(rows, by, unit, show, names) {
  const groups = new Map()
  for (const row of rows) {
    const value = valueAt(row, by)
    const prefix = beginningOf(value, unit)
    const key = prefix === undefined ? `=${value === undefined ? '' : line(value)}` : prefix
    if (!groups.has(key)) groups.set(key, {key: prefix ?? value, prefix, rows: []})
    groups.get(key).rows.push(row)
  }
  return [...groups.values()].map(({rows, ...group}) => ({...group, value: valueOf(rows, show, names)}))
}

function valueOf(rows, show, [value, number, sum]) {
  const values = rows.map(row => row.get(value) ?? null).filter(value => value !== null)
  if (rows.length === 1) return values[0] ?? null
  if (show === 'count' || show === 'sum') return total(values)
  if (show !== 'average') return values.length ? values.reduce((best, other) => compare(other, best) * (show === 'least' ? -1 : 1) > 0 ? other : best) : null
  // A group has as many numbers as its average goes into its sum, which says nothing if both are zero.
  const counts = rows.map(row => {
    const [average, all] = [numberOf(row.get(value) ?? null), numberOf(row.get(sum))]
    return row.get(value) == null ? 0 : average ? Math.round(all / average) : row.get(number)
  })
  const members = counts.reduce((sum, count) => sum + count, 0)
  return members ? numberOf(total(rows.map(row => row.get(sum)))) / members : null
}

/** Integers are added exactly. */
function total(values) {
  const texts = values.map(line)
  if (!texts.every(text => /^-?\d+$/.test(text))) return Number(values.reduce((sum, value) => sum + numberOf(value), 0).toPrecision(15))
  const sum = texts.reduce((sum, text) => sum + BigInt(text), 0n)
  return BigInt(Number(sum)) === sum && Number.isSafeInteger(Number(sum)) ? Number(sum) : new Numeral(String(sum))
}

/** In the order of values: booleans, numbers, texts, and then the others. */
function compare(left, right) {
  const rank = value => typeof value === 'boolean' ? 1 : typeof numberOf(value) === 'number' ? 2 : typeof value === 'string' ? 3 : Array.isArray(value) ? 4 : 5
  const [a, b] = rank(left) === rank(right) ? [left, right].map(value => rank(value) > 3 ? line(value) : numberOf(value)) : [rank(left), rank(right)]
  return a < b ? -1 : a > b ? 1 : 0
}

/** The units between two times; nothing if they are too many. */
export function between(from, to, unit) {
  const step = new Date(from.length === 13 ? `${from.replace(' ', 'T')}:00Z` : from)
  const found = []
  const next = () => {
    if (unit === 'year') step.setUTCFullYear(step.getUTCFullYear() + 1)
    else if (unit === 'month') step.setUTCMonth(step.getUTCMonth() + 1)
    else step.setTime(step.getTime() + (unit === 'day' ? 24 : 1) * 3_600_000)
    return isNaN(step) ? to : step.toISOString().slice(0, lengths[unit])
  }
  for (let at = next(); at < to.replace(' ', 'T'); at = next()) if (found.push(at) > maximumFilled) return []
  return found
}
