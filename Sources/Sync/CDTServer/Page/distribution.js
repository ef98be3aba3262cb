// How the values of a field are spread, by their counts or by a sample: the frequent ones, or the numbers and times by interval. A click finds the documents.
import {bar, el, text, visible} from './dom.js'
import {line, numberOf} from './json.js'
import {plot} from './plot.js'

const maximumBars = 8
/** Of values that were all counted, more are shown. */
const maximumCounted = 20
const intervals = 10
/** The server cuts longer strings: those of indexes after so many bytes, and others with this mark. */
const longestValue = 96
const mark = '…'

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

function sum(values) { return values.reduce((sum, [, count]) => sum + numberOf(count), 0) }

/** The name of a type of JSON, in its color. */
export function chip(type, ...content) { return el('span', {class: `chip ${type}`}, ...content.length ? content : [type]) }

/**
 * The frequent ones of values, `frequent`, or intervals if most values occur once, `spread`; each with its condition and its share of all.
 *
 * @param values Pairs of a value and its count.
 */
export function digest(values) {
  const counts = new Map()
  for (const [value, number] of values) {
    // 1 and 1.0 are found by the same query.
    const key = Number.isSafeInteger(numberOf(value)) ? `${numberOf(value)}` : line(value)
    counts.set(key, {value, key, count: (counts.get(key)?.count ?? 0) + numberOf(number)})
  }
  const total = sum(values)
  const repeated = [...counts.values()].filter(({count}) => count > 1).sort((a, b) => b.count - a.count)
  const covered = repeated.slice(0, maximumBars).reduce((sum, {count}) => sum + count, 0)
  const spread = covered < total / 2 && (ofNumbers(values, total) ?? ofTimes(values, total))
  const shared = bars => bars.map(bar => ({...bar, share: bar.count / total}))
  if (spread) return {spread: shared(spread), rest: total - sum(spread.map(bar => [null, bar.count]))}
  // Of many values, two that are the same by chance say nothing.
  const frequent = covered < total / 5 ? [] : repeated.map(({value, key, count}) => ({
    // A text that looks like another value is in quotes.
    label: typeof value !== 'string' || /^(|-?\d.*|true|false|null)$/s.test(value) ? key : value, condition: conditionOf(value), count,
  }))
  return {frequent: shared(frequent), distinct: counts.size, total}
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
    for (const [time, count] of times) counts.set(time.slice(0, length), (counts.get(time.slice(0, length)) ?? 0) + numberOf(count))
    if (counts.size > 14) continue
    return [...counts].sort(([a], [b]) => a < b ? -1 : 1).map(([label, count]) => ({label, from: label, count, condition: beginsWith(label)}))
  }
  return null
}

/** A share as per cent; less than one is not shown as none. */
export function percent(share) {
  return share > 0 && share < .01 ? '< 1 %' : `${share < 1 ? Math.min(99, Math.round(share * 100)) : 100} %`
}

/**
 * A chart of a field's values, each of which opens the query for it; null if there is nothing to compare.
 *
 * @param values Pairs of a value and its count.
 * @param address Returns the address of the query for a condition; undefined if there is none.
 * @param isCounted Whether the counts are those of all values; otherwise only the shares are shown.
 */
export function chart(values, name, address, isCounted = false) {
  const {spread, frequent, distinct, total} = digest(values)
  if (spread) {
    return plot(spread.map(bar => ({
      ...bar, value: isCounted ? bar.count : bar.share * 100, href: address(bar.condition),
      title: `${bar.label}: ${isCounted ? `${bar.count.toLocaleString('en')}, ` : ''}${percent(bar.share)}`,
    })), {name, format: value => isCounted ? value.toLocaleString('en') : percent(value / 100)})
  }
  const bars = frequent.slice(0, isCounted ? maximumCounted : maximumBars)
  if (!bars.length) return null
  const most = bars[0].count
  const row = (label, title, count, share, length) => el('tr', {},
    el('th', {scope: 'row', title}, label), isCounted && el('td', {class: 'number'}, count.toLocaleString('en')),
    el('td', {class: 'number'}, percent(share)), el('td', {class: 'bars'}, bar(length)))
  const others = distinct - bars.length
  const rest = total - bars.reduce((sum, {count}) => sum + count, 0)
  return el('table', {class: 'chart', 'aria-label': name}, el('tbody', {}, bars.map(item => {
    const href = address(item.condition)
    return row(href ? el('a', {href}, text(item.label, 80)) : text(item.label, 80), visible(item.label), item.count, item.share, item.count / most)
  }), isCounted && others > 0 && row(`${others} other${others > 1 ? 's' : ''}`, null, rest, rest / total, 0)))
}
