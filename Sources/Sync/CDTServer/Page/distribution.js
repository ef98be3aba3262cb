// How the values of a field are spread, by a sample: the frequent ones, or the numbers and times by interval. A click finds the documents.
import {bar, el, text, visible} from './dom.js'
import {line, Numeral} from './json.js'
import {link} from './router.js'

const maximumBars = 8
const intervals = 10
/** The server cuts longer strings. */
const longestValue = 60

export function numberOf(value) { return value instanceof Numeral ? Number(value.text) : value }

/** The address of the query for the documents whose field meets a condition; `items[].n` is a member of the elements of an array. */
export function found(store, path, condition) {
  // All of a condition holds for the same element.
  const selector = path => {
    const [, outer, inner] = condition instanceof Map && /^(.*?)\[\]\.?(.*)$/s.exec(path) || []
    if (outer === undefined) return new Map([[path.replaceAll('[]', ''), condition]])
    return new Map([[outer, new Map([['$elemMatch', inner ? selector(inner) : condition]])]])
  }
  return link(store, 'query', {selector: line(selector(path))})
}

/** The bars of a chart: the frequent values, or intervals if most values occur once. */
function barsOf(sample) {
  const counts = new Map()
  for (const value of sample) {
    const key = line(value)
    counts.set(key, {value, count: (counts.get(key)?.count ?? 0) + 1})
  }
  const frequent = [...counts.values()].filter(({count}) => count > 1).sort((a, b) => b.count - a.count)
  const covered = frequent.slice(0, maximumBars).reduce((sum, {count}) => sum + count, 0)
  const spread = covered < sample.length / 2 && (ofNumbers(sample) ?? ofTimes(sample))
  if (spread) return {spread}
  // Of many values, two that are the same by chance say nothing.
  return {frequent: covered < sample.length / 5 ? [] : frequent.slice(0, maximumBars).map(({value, count}) => ({
    label: typeof value === 'string' ? value : line(value), condition: isWhole(value) ? value : undefined, count,
  }))}
}

function isWhole(value) { return typeof value !== 'string' || new TextEncoder().encode(value).length <= longestValue }

function range(from, to) { return new Map([['$gte', from], ['$lt', to]]) }

/** The numbers of a sample by intervals between round numbers; null if they are few. */
function ofNumbers(sample) {
  const numbers = sample.map(numberOf).filter(Number.isFinite)
  const [least, greatest] = [Math.min(...numbers), Math.max(...numbers)]
  if (numbers.length < Math.max(20, sample.length / 2) || !(greatest > least)) return null
  const rough = (greatest - least) / intervals
  const power = 10 ** Math.floor(Math.log10(rough))
  const width = [1, 2, 5, 10].map(step => step * power).find(step => step >= rough)
  const start = Math.floor(least / width)
  if (!Number.isFinite(start * width) || !Number.isSafeInteger(start)) return null
  const at = number => Number((number * width).toPrecision(12))
  const bars = []
  for (let step = start; at(step) <= greatest && bars.length <= intervals + 1; step++) {
    const [from, to] = [at(step), at(step + 1)]
    const format = value => value.toLocaleString('en', {maximumSignificantDigits: 6})
    bars.push({label: `${format(from)} to ${format(to)}`, from: format(from), to: format(to), condition: range(from, to), count: numbers.filter(value => value >= from && value < to).length})
  }
  return bars
}

/** The times of a sample by years, months or days; null if they are few. */
function ofTimes(sample) {
  const times = sample.filter(value => typeof value === 'string' && /^\d{4}-\d\d-\d\d(T|$)/.test(value))
  if (times.length < Math.max(20, sample.length / 2)) return null
  for (const [length, step] of [[10, [0, 0, 1]], [7, [0, 1, 0]], [4, [1, 0, 0]]]) {
    const counts = new Map()
    for (const time of times) counts.set(time.slice(0, length), (counts.get(time.slice(0, length)) ?? 0) + 1)
    if (counts.size > 14) continue
    return [...counts].sort(([a], [b]) => a < b ? -1 : 1).map(([label, count]) => {
      const [year, month = 1, day = 1] = label.split('-').map(Number)
      const next = new Date(Date.UTC(year + step[0], month - 1 + step[1], day + step[2]))
      return {label, from: label, to: label, count, condition: Number.isNaN(next.getTime()) ? undefined : range(label, next.toISOString().slice(0, length))}
    })
  }
  return null
}

/** A chart of a field's values, each of which opens the query for it; null if there is nothing to compare. */
export function chart(store, path, sample, caption) {
  const {spread, frequent} = barsOf(sample)
  const bars = spread ?? frequent
  if (!bars.length) return null
  const most = Math.max(...bars.map(({count}) => count))
  const share = count => `${(count / sample.length * 100).toFixed(0)} %`
  const opened = ({label, condition}, attributes, ...content) => condition === undefined ? el('span', attributes, ...content)
    : el('a', {href: found(store, path, condition), ...attributes}, ...content)
  if (spread) {
    return el('div', {class: 'columns', role: 'group', 'aria-label': caption}, bars.map(bar => {
      const name = `${bar.label}: ${share(bar.count)}`
      const column = el('span')
      column.style.height = `${bar.count / most * 100}%`
      return opened(bar, {'aria-label': name, title: name}, column)
    }), el('p', {class: 'soft'}, el('span', {}, bars[0].from), el('span', {}, bars.at(-1).to)))
  }
  return el('table', {class: 'chart', 'aria-label': caption}, el('tbody', {}, bars.map(item => el('tr', {},
    el('th', {scope: 'row', title: visible(item.label)}, opened(item, {}, text(item.label, 80))),
    el('td', {class: 'number'}, share(item.count)),
    el('td', {class: 'bars'}, bar(item.count / most))))))
}
