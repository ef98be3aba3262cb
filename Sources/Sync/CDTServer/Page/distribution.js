// How the values of a field are spread, by a sample: the frequent ones, or the numbers and times by interval. A click finds the documents.
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

/** The frequent values of a sample with their conditions, or intervals if most values occur once. */
function barsOf(sample) {
  const counts = new Map()
  for (const value of sample) {
    // 1 and 1.0 are found by the same query.
    const key = Number.isSafeInteger(numberOf(value)) ? `${numberOf(value)}` : line(value)
    counts.set(key, {value, key, count: (counts.get(key)?.count ?? 0) + 1})
  }
  const frequent = [...counts.values()].filter(({count}) => count > 1).sort((a, b) => b.count - a.count).slice(0, maximumBars)
  const covered = frequent.reduce((sum, {count}) => sum + count, 0)
  const spread = covered < sample.length / 2 && (ofNumbers(sample) ?? ofTimes(sample))
  if (spread) return {spread}
  // Of many values, two that are the same by chance say nothing.
  return {frequent: covered < sample.length / 5 ? [] : frequent.map(({value, key, count}) => ({
    // A text that looks like another value is in quotes.
    label: typeof value !== 'string' || /^(|-?\d.*|true|false|null)$/s.test(value) ? key : value, condition: conditionOf(value), count,
  }))}
}

/** The numbers of a sample by intervals between round numbers; null if they are few. */
function ofNumbers(sample) {
  const numbers = sample.map(numberOf).filter(Number.isFinite)
  const [least, greatest] = [Math.min(...numbers), Math.max(...numbers)]
  if (numbers.length < Math.max(20, sample.length / 2) || !(greatest > least)) return null
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
      count: numbers.filter(value => value >= from && value < to).length,
    })
  }
  return bars
}

/** The times of a sample by days, months or years; null if they are few. */
function ofTimes(sample) {
  const times = sample.filter(value => typeof value === 'string' && /^\d{4}-\d\d-\d\d(T|$)/.test(value))
  if (times.length < Math.max(20, sample.length / 2)) return null
  for (const length of [10, 7, 4]) {
    const counts = new Map()
    for (const time of times) counts.set(time.slice(0, length), (counts.get(time.slice(0, length)) ?? 0) + 1)
    if (counts.size > 14) continue
    return [...counts].sort(([a], [b]) => a < b ? -1 : 1).map(([label, count]) => ({label, from: label, to: label, count, condition: beginsWith(label)}))
  }
  return null
}

/**
 * A chart of a field's values, each of which opens the query for it; null if there is nothing to compare.
 *
 * @param address Returns the address of the query for a condition; undefined if there is none.
 */
export function chart(sample, name, address) {
  const {spread, frequent} = barsOf(sample)
  const bars = spread ?? frequent
  if (!bars.length) return null
  const most = Math.max(...bars.map(({count}) => count))
  const share = count => `${(count / sample.length * 100).toFixed(0)} %`
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
