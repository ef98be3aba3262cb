// The table of documents: which fields are its columns, how wide they are, and its cells. Documents and results have it in common.
import {el, fill, revision, text, visible} from './dom.js'
import {beginning, line, Numeral} from './json.js'

/** More fields are not offered as columns. */
const maximumOffered = 200
const [narrowest, widest] = [64, 320]
/** The choices of columns and widths, by store, while the page is open. */
const choices = new Map()

/** The names of a path, in which a dot of a name, or a dollar sign that it begins with, has a backslash before it. */
export function namesInPath(path) {
  const names = ['']
  for (const [part] of path.matchAll(/\\[.$]|[^]/g)) {
    if (part === '.') names.push('')
    else names[names.length - 1] += part.length > 1 ? part[1] : part
  }
  return names
}

/** The value of a document at a path; undefined if there is none. */
export function valueAt(doc, path) {
  return namesInPath(path).reduce((inner, name) => inner instanceof Map ? inner.get(name) : undefined, doc)
}

/** The paths of the fields of some documents that are not objects, the frequent ones first. */
export function pathsOf(docs) {
  const counts = new Map()
  const visit = (value, path, depth) => {
    for (const [name, inner] of value) {
      if (counts.size >= maximumOffered || !path && name.startsWith('_')) continue
      const place = path + name.replace(/\.|^\$/g, '\\$&')
      if (inner instanceof Map && inner.size && depth < 4) visit(inner, place + '.', depth + 1)
      else counts.set(place, (counts.get(place) ?? 0) + 1)
    }
  }
  for (const doc of docs.slice(0, 100)) visit(doc, '', 0)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([path]) => path)
}

/**
 * A table of documents.
 *
 * @param onsort Called with the path of a column whose header is pressed.
 * @param onchange Called when other columns are chosen; the rows are then shown again.
 * @returns element, menu (the choice of the columns), columns, offer(paths, count), sorted(path, direction), show(rows, form), cells(doc)
 */
export function grid({label, store, onsort, onchange, ...attributes}) {
  const head = el('thead')
  const body = el('tbody')
  const group = el('colgroup')
  const table = el('table', {'aria-label': label, ...attributes}, group, head, body)
  const boxes = el('div')
  const kept = choices.get(store) ?? {columns: null, widths: new Map()}
  choices.set(store, kept)
  let [paths, numeric, order, shownHead, isMeasured] = [[], new Set(), {}, '', false]
  const self = {
    element: table, body, columns: [], measured: new Map(),
    menu: el('details', {class: 'menu'}, el('summary', {}, 'Columns'), boxes),
    /** Sets the fields that can be chosen, of which the first ones are the columns until others were chosen. */
    offer(offered, first) {
      if (paths.join('\n') === offered.join('\n')) return
      paths = offered
      self.columns = kept.columns ? paths.filter(path => kept.columns.includes(path)) : paths.slice(0, first)
      if (!self.columns.length) self.columns = paths.slice(0, first)
      isMeasured = false
      fill(boxes, paths.slice(0, maximumOffered).map(box), paths.length ? null : 'No fields',
        paths.length > maximumOffered && el('p', {}, 'The other fields are in the documents as JSON.'))
    },
    sorted(path, direction) { order = {path, direction} },
    /** Measures columns by the first documents, once. */
    measure(docs) {
      if (isMeasured || !docs.length) return
      isMeasured = true
      numeric = new Set()
      for (const path of ['_id', ...self.columns]) {
        const values = docs.slice(0, 50).map(doc => valueAt(doc, path)).filter(value => value != null)
        if (values.length && values.every(value => typeof value === 'number' || value instanceof Numeral)) numeric.add(path)
        const longest = Math.max(path.length + 2, ...values.map(value => shownValue(value).text.length))
        self.measured.set(path, Math.round(Math.min(widest, Math.max(narrowest, longest * 7.5 + 26))))
      }
    },
    /** Replaces the rows, which are made by `cells` or by the caller. */
    show(rows, form = 'Table') {
      showHead(form)
      fill(body, rows)
    },
    /** The cells of the columns. */
    cells: doc => self.columns.map(path => cell(valueAt(doc, path), path)),
  }

  function box(path) {
    return el('label', {}, el('input', {
      type: 'checkbox', checked: self.columns.includes(path), onchange: event => {
        kept.columns = self.columns = paths.filter(other => other === path ? event.target.checked : self.columns.includes(other))
        isMeasured = false
        onchange()
      },
    }), text(path, 60))
  }

  function showHead(form) {
    const columns = form === 'JSON' ? [] : self.columns
    const key = JSON.stringify([form, columns, order, [...self.measured]])
    if (key === shownHead) return
    shownHead = key
    const focused = head.contains(document.activeElement) ? document.activeElement.closest('th').dataset.path : null
    fill(group, ['_id', ...columns].map(path => {
      const column = el('col')
      column.style.width = `${widthOf(path)}px`
      return column
    }), form === 'JSON' && el('col'))
    setWidth(form === 'JSON' ? 960 : 0)
    fill(head, el('tr', {}, ['_id', ...columns].map(header), form === 'JSON' && el('th', {scope: 'col'}, 'Document')))
    table.classList.toggle('as-json', form === 'JSON')
    if (focused) [...head.querySelectorAll('th')].find(th => th.dataset.path === focused)?.querySelector('button').focus()
  }

  function setWidth(more = 0) {
    table.style.width = `${[...group.children].reduce((sum, column) => sum + (parseFloat(column.style.width) || 0), more)}px`
  }

  function widthOf(path) { return kept.widths.get(path) ?? self.measured.get(path) ?? 150 }

  function header(path, number) {
    const direction = order.path === path ? order.direction : null
    const name = visible(path, 60)
    const sort = el('button', {
      type: 'button', 'aria-keyshortcuts': 'Shift+ArrowLeft Shift+ArrowRight', title: `Sort by ${name}; Shift with ← or → changes the width`,
      onclick: () => onsort(path),
      onkeydown: event => {
        const step = {ArrowLeft: -16, ArrowRight: 16}[event.key]
        if (!step || !event.shiftKey) return
        event.preventDefault()
        event.stopPropagation()
        resize(number, path, widths()[number] + step)
      },
    }, el('bdi', {}, name), direction && el('span', {'aria-hidden': 'true'}, direction === 'ascending' ? ' ↑' : ' ↓'))
    const th = el('th', {
      scope: 'col', class: numeric.has(path) ? 'number' : null, 'aria-sort': direction ?? 'none',
    }, sort, el('span', {
      class: 'grip', 'aria-hidden': 'true', ondblclick: () => {
        kept.widths.delete(path)
        resize(number, path, widthOf(path))
      }, onpointerdown: event => drag(event, number, path),
    }))
    th.dataset.path = path
    return th
  }

  function drag(event, number, path) {
    event.preventDefault()
    const {target, clientX: start} = event
    const width = widths()[number]
    target.setPointerCapture(event.pointerId)
    target.onpointermove = moved => resize(number, path, width + moved.clientX - start)
    target.onpointerup = target.onpointercancel = () => { target.onpointermove = null }
  }

  /** The widths as they are: a table that has room gives more to each column. */
  function widths() { return [...head.querySelectorAll('th')].map(th => th.offsetWidth) }

  function resize(number, path, width) {
    // The other columns keep theirs.
    const all = widths()
    for (const [at, column] of [...group.children].entries()) column.style.width = `${all[at]}px`
    table.classList.add('sized')
    kept.widths.set(path, Math.max(40, Math.round(width)))
    group.children[number].style.width = `${kept.widths.get(path)}px`
    setWidth()
  }

  return self
}

const moment = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/

/** What a cell shows of a value, and of which kind it is. */
export function shownValue(value) {
  if (typeof value === 'string') {
    const [, day, time, seconds] = moment.exec(value) ?? []
    if (day) return {text: time === '00:00' && !/[1-9]/.test(seconds ?? '') ? day : `${day} ${time}`, kind: 'date'}
    return {text: value, kind: 'text'}
  }
  if (value === null || typeof value === 'boolean') return {text: line(value), kind: 'word'}
  if (typeof value === 'number' || value instanceof Numeral) return {text: line(value), kind: 'number'}
  return {text: beginning(value, 200), kind: 'value'}
}

/** A cell with the beginning of a value, and more of it on hover. */
export function cell(value, label) {
  if (value === undefined) return el('td', {class: 'absent', 'data-label': label}, el('span', {class: 'hidden'}, 'absent'))
  if (label === '_rev' && typeof value === 'string') return el('td', {'data-label': label}, revision(value))
  const {text: shown, kind} = shownValue(value)
  const whole = typeof value === 'string' ? value : shown
  return el('td', {class: kind, 'data-label': visible(label, 60), title: whole.length > 12 || whole !== shown ? visible(whole, 1_000) : null}, text(shown, 200))
}
