// How the values of a field are spread, by their counts or by a sample: the frequent ones, or the numbers and times by interval. A click finds the documents.
import {bar, el, text, visible} from './dom.js'
import {line, Numeral} from './json.js'

const maximumBars = 8
const intervals = 10
/** The server cuts longer strings: those of indexes after so many bytes, and others with this mark. */
const longestValue = 96
const mark = '…'

export function numberOf(value) { return value instanceof Numeral ? Number(value.text) : value }

/** The selector for a field that meets a condition, a value or a map of operators; `items[].n` is a member of the elements of an array. */
export function selectorOf(path, condition) {
  const isValue = !(condition instanceof Map)
  const at = path.indexOf('[]')
  if (at < 0) return path ? new Map([[path, condition]]) : isValue ? new Map([['$eq', condition]]) : condition
  // A value is found in an array by its path, but not in an array of arrays; all of another condition holds for the same element.
  if (isValue && at && !path.includes('[][]')) return new Map([[path.replaceAll('[]', ''), condition]])
  const inner = new Map([['$elemMatch', selectorOf(path.slice(at + 2).replace(/^\./, ''), condition)]])
  return at ? new Map([[path.slice(0, at), inner]]) : inner
}

/** The condition that finds a value of a sample, of which a string may be cut. */
export function conditionOf(value) {
  if (typeof value !== 'string') return value
  const isCut = value.endsWith(mark) || new TextEncoder().encode(value).length > longestValue
  return isCut ? beginsWith(value.replace(mark, '')) : value
}

function beginsWith(text) { return new Map([['$beginsWith', text]]) }

function sum(values) { return values.reduce((sum, [, count]) => sum + count, 0) }

/** The frequent ones of values with their counts, or intervals if most values occur once; each with its condition. */
function barsOf(values) {
  const counts = new Map()
  for (const [value, number] of values) {
    // 1 and 1.0 are found by the same query.
    const key = Number.isSafeInteger(numberOf(value)) ? `${numberOf(value)}` : line(value)
    counts.set(key, {value, key, count: (counts.get(key)?.count ?? 0) + number})
  }
  const total = sum(values)
  const frequent = [...counts.values()].filter(({count}) => count > 1).sort((a, b) => b.count - a.count).slice(0, maximumBars)
  const covered = frequent.reduce((sum, {count}) => sum + count, 0)
  const spread = covered < total / 2 && (ofNumbers(values, total) ?? ofTimes(values, total))
  if (spread) return {spread}
  // Of many values, two that are the same by chance say nothing.
  return {frequent: covered < total / 5 ? [] : frequent.map(({value, key, count}) => ({
    // A text that looks like another value is in quotes.
    label: typeof value !== 'string' || /^(|-?\d.*|true|false|null)$/s.test(value) ? key : value, condition: conditionOf(value), count,
  }))}
}

/** The numbers among values by intervals between round numbers; null if they are few. */
function ofNumbers(values, total) {
  const numbers = values.map(([value, count]) => [numberOf(value), count]).filter(([value]) => Number.isFinite(value))
  const [least, greatest] = [Math.min(...numbers.map(([value]) => value)), Math.max(...numbers.map(([value]) => value))]
  if (sum(numbers) < Math.max(20, total / 2) || !(greatest > least)) return null
  const rough = (greatest - least) / intervals
  const power = 10 ** Math.floor(Math.log10(rough))
  const width = [1, 2, 5, 10].map(step => step * power).find(step => step >= rough)
  const start = Math.floor(least / width)
  const at = number => Number((number * width).toPrecision(15))
  if (!Number.isFinite(start * width) || !Number.isSafeInteger(start) || at(start + 1) <= at(start)) return null
  const bars = []
  for (let step = start; at(step) <= greatest && bars.length <= intervals + 1; step++) {
    const [from, to] = [at(step), at(step + 1)]
    const format = value => value.toLocaleString('en', {maximumSignificantDigits: 15})
    bars.push({
      label: `${format(from)} to ${format(to)}`, from: format(from), to: format(to), condition: new Map([['$gte', from], ['$lt', to]]),
      count: sum(numbers.filter(([value]) => value >= from && value < to)),
    })
  }
  return bars
}

/** The times among values by days, months or years; null if they are few. */
function ofTimes(values, total) {
  const times = values.filter(([value]) => typeof value === 'string' && /^\d{4}-\d\d-\d\d(T|$)/.test(value))
  if (sum(times) < Math.max(20, total / 2)) return null
  for (const length of [10, 7, 4]) {
    const counts = new Map()
    for (const [time, count] of times) counts.set(time.slice(0, length), (counts.get(time.slice(0, length)) ?? 0) + count)
    if (counts.size > 14) continue
    return [...counts].sort(([a], [b]) => a < b ? -1 : 1).map(([label, count]) => ({label, from: label, to: label, count, condition: beginsWith(label)}))
  }
  return null
}

/**
 * A chart of a field's values, each of which opens the query for it; null if there is nothing to compare.
 *
 * @param values Pairs of a value and its count.
 * @param address Returns the address of the query for a condition; undefined if there is none.
 */
export function chart(values, name, address) {
  const {spread, frequent} = barsOf(values)
  const bars = spread ?? frequent
  if (!bars.length) return null
  const most = Math.max(...bars.map(({count}) => count))
  const total = sum(values)
  const share = count => `${(count / total * 100).toFixed(0)} %`
  const opened = ({condition}, attributes, ...content) => {
    const href = address(condition)
    return href ? el('a', {href, ...attributes}, ...content) : el('span', attributes, ...content)
  }
  if (spread) {
    return el('div', {class: 'columns', role: 'group', 'aria-label': name}, bars.map(bar => {
      const label = `${bar.label}: ${share(bar.count)}`
      const column = el('span')
      column.style.height = `${bar.count / most * 100}%`
      return opened(bar, {'aria-label': label, title: label}, column)
    }), el('p', {class: 'soft'}, el('span', {}, bars[0].from), el('span', {}, bars.at(-1).to)))
  }
  return el('table', {class: 'chart', 'aria-label': name}, el('tbody', {}, bars.map(item => el('tr', {},
    el('th', {scope: 'row', title: visible(item.label)}, opened(item, {}, text(item.label, 80))),
    el('td', {class: 'number'}, share(item.count)),
    el('td', {class: 'bars'}, bar(item.count / most))))))
}
