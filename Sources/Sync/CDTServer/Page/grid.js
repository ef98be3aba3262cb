// The table of documents: which fields are its columns, how wide they are, its rows, and the cell that is edited in its place.
import {count, el, fill, revision, say, tell, text, visible} from './dom.js'
import {beginning, isNumber, line, parse} from './json.js'
import {link} from './router.js'

/** More fields are not offered as columns. */
const maximumOffered = 200
const [narrowest, widest] = [64, 320]
/** The columns at first: the fields that most documents have, and a few of the others, but not all of a document with hundreds. */
const [fewest, most] = [6, 60]
/** Where a row is a card (page.css), one of the scrolled table has room for these fields. */
const [narrow, fieldsOfCard] = [matchMedia('(max-width: 40rem)'), 3]
/** The milliseconds in which a second click makes a double click. */
const doubleClick = 250
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

/** The paths of the fields of some documents that are not objects, the frequent ones first, each with the share of documents that have it. */
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
  const seen = docs.slice(0, 100)
  for (const doc of seen) visit(doc, '', 0)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([path, number]) => ({path, share: number / seen.length}))
}

/**
 * A table of documents.
 *
 * @param onsort Called with the path of a column whose header is pressed.
 * @param onchange Called when other columns are chosen; the rows are then shown again.
 * @param onopen Called with the id of a row that is pressed.
 * @param onedit Called with the id, a path, the value before and the new one of a cell that was edited; returns when it is saved.
 * @param onmove Called with the row that has the focus and a step of 1 or -1, if the row beside it is not in the table.
 * @returns element, menu (the choice of the columns), columns, offer(fields, first), sorted(path, direction), row(entry), show(rows), mark(id), beside(id, step)
 */
export function grid({label, store, onsort, onchange, onopen, onedit, onmove = () => {}, ...attributes}) {
  const head = el('thead')
  const body = el('tbody')
  const group = el('colgroup')
  const table = el('table', {'aria-label': label, ...attributes}, group, head, body)
  const hidden = el('span', {class: 'badge'})
  const entries = new WeakMap()
  const boxes = el('div')
  const kept = choices.get(store) ?? {columns: null, widths: new Map()}
  choices.set(store, kept)
  let [paths, numeric, order, shownHead, isMeasured, marked] = [[], new Set(), {}, '', false, undefined]
  const self = {
    element: table, columns: [], measured: new Map(),
    menu: el('details', {class: 'menu'}, el('summary', {}, 'Columns', hidden), boxes),
    /**
     * Sets the fields that can be chosen, with the shares of the documents that have them. Those that most documents have are the columns until
     * others were chosen, or the first ones.
     */
    offer(fields, first = null) {
      const offered = fields.map(({path}) => path)
      if (paths.join('\n') === offered.join('\n')) return
      paths = offered
      const usual = first ?? Math.min(most, Math.max(fewest, fields.filter(({share}) => share > 0.5).length))
      self.columns = kept.columns ? paths.filter(path => kept.columns.includes(path)) : paths.slice(0, usual)
      if (!self.columns.length) self.columns = paths.slice(0, usual)
      isMeasured = false
      fill(boxes, paths.slice(0, maximumOffered).map(box), paths.length ? null : 'No fields',
        paths.length > maximumOffered && el('p', {}, 'The other fields are in the documents as JSON.'))
      countHidden()
    },
    sorted(path, direction) { order = {path, direction} },
    /** Measures columns by the first documents, once. */
    measure(docs) {
      if (isMeasured || !docs.length) return
      isMeasured = true
      numeric = new Set()
      for (const path of ['_id', ...self.columns]) {
        const values = docs.slice(0, 50).map(doc => valueAt(doc, path)).filter(value => value != null)
        if (values.length && values.every(isNumber)) numeric.add(path)
        const longest = Math.max(path.length + 2, ...values.map(value => shownValue(value).text.length))
        self.measured.set(path, Math.round(Math.min(widest, Math.max(narrowest, longest * 7.5 + 26))))
      }
    },
    /** A row of a document that has an `id`, and a `doc` or the `length` of one that is too long. */
    row(entry, rowAttributes = {}) {
      const {id, doc, length} = entry
      const opened = id === undefined ? '' : el('a', {href: link(store, 'document', {id}), tabindex: '-1'}, text(id || '(empty)', 120))
      const tr = el('tr', {...rowAttributes, 'aria-current': id !== undefined && id === marked ? 'true' : null},
        el('td', {title: id?.length > 12 ? visible(id) : null}, opened), doc ? self.columns.map(path => cell(valueAt(doc, path), path))
          : el('td', {class: 'waiting', colspan: Math.max(1, self.columns.length)}, `${count(length, 'character')} of JSON, too long for a row`))
      entries.set(tr, entry)
      return tr
    },
    /** Replaces the rows, but not while a cell is edited. */
    show(rows) {
      if (body.querySelector('.editing')) return
      showHead()
      const focused = body.contains(document.activeElement) ? entries.get(document.activeElement.closest('tr'))?.id : undefined
      fill(body, rows)
      const row = rowOf(focused)
      enter(row ?? rowOf(marked) ?? body.firstElementChild)
      if (row) row.querySelector('a').focus({preventScroll: true})
      else if (focused !== undefined) table.parentElement.closest('[tabindex]')?.focus({preventScroll: true})
    },
    /** Marks the row of the document that is open; undefined for none. */
    mark(id) {
      marked = id
      for (const tr of body.children) tr.toggleAttribute('aria-current', false)
      const row = rowOf(id)
      row?.setAttribute('aria-current', 'true')
      if (row) enter(row)
      return row
    },
    /** The id of the row beside that of a document; undefined if there is none in the table. */
    beside(id, step) {
      const row = rowOf(id)
      return entries.get(step > 0 ? row?.nextElementSibling : row?.previousElementSibling)?.id
    },
    /** Gives the focus to the row of a document, and returns whether it is there. */
    focus(id) {
      const row = rowOf(id)
      row?.querySelector('a').focus()
      return Boolean(row)
    },
  }

  function rowOf(id) { return id === undefined ? undefined : [...body.children].find(tr => entries.get(tr)?.id === id) }

  /** Makes a row the one that Tab goes to. */
  function enter(row) {
    for (const a of body.querySelectorAll('a[tabindex="0"]')) a.tabIndex = -1
    const a = row?.querySelector('a')
    if (a) a.tabIndex = 0
  }

  body.addEventListener('focusin', ({target}) => { if (target.localName === 'a') enter(target.closest('tr')) })
  body.addEventListener('keydown', event => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key]
    if (!step || event.target.localName !== 'a' || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    const row = event.target.closest('tr')
    const next = step > 0 ? row.nextElementSibling : row.previousElementSibling
    if (!next || !isWhole(next)) onmove(row, step)
    const there = next?.isConnected ? next : rowOf(entries.get(next)?.id)
    there?.querySelector('a')?.focus()
  })

  /** Whether all of a row is seen. */
  function isWhole(row) {
    const [box, frame] = [row.getBoundingClientRect(), table.closest('.grid').getBoundingClientRect()]
    return box.bottom <= frame.bottom && box.top >= frame.top + (head.offsetHeight ?? 0)
  }

  let timer
  body.addEventListener('click', event => {
    const {id} = entries.get(event.target.closest('tr')) ?? {}
    if (id === undefined || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest('.editing')) return
    const isLink = event.target.closest('a') !== null
    // A keyboard has no second click.
    if (isLink) event.preventDefault()
    else if (String(getSelection())) return
    clearTimeout(timer)
    if (isLink) onopen(id)
    else if (event.detail < 2) timer = setTimeout(onopen, doubleClick, id)
  })
  body.addEventListener('dblclick', event => {
    const td = event.target.closest('td')
    clearTimeout(timer)
    const {id, doc} = entries.get(td?.parentElement) ?? {}
    if (!doc || id === undefined || self.columns[td.cellIndex - 1] === undefined || document.documentElement.hasAttribute('data-read-only')) return
    getSelection().removeAllRanges()
    edit(td, entries.get(td.parentElement), self.columns[td.cellIndex - 1])
  })

  /** Edits a cell in its place. A text stays a text; other values are written as JSON. */
  function edit(td, entry, path) {
    const before = valueAt(entry.doc, path)
    const isText = typeof before === 'string'
    if (path.startsWith('_') || isText && before.includes('\n')) return onopen(entry.id)
    const old = before === undefined ? '' : isText ? before : line(before)
    const input = el('input', {'aria-label': `${visible(path, 60)} of ${visible(entry.id, 60)}, as ${isText ? 'text' : 'JSON'}`, spellcheck: 'false'})
    input.value = old
    const editing = el('td', {class: 'editing'}, input)
    td.replaceWith(editing)
    input.focus()
    input.select()
    let isOver = false
    const leave = value => {
      isOver = true
      const row = editing.parentElement
      editing.replaceWith(cell(value, path))
      row?.querySelector('a')?.focus({preventScroll: true})
    }
    const save = async () => {
      if (isOver) return
      if (input.value === old) return leave(before)
      try {
        const value = isText ? input.value : parse(input.value)
        isOver = true
        input.readOnly = true
        entry.doc = await onedit(entry.id, path, before, value)
        leave(valueAt(entry.doc, path))
      } catch (error) {
        isOver = input.readOnly = false
        input.setAttribute('aria-invalid', 'true')
        if (error.start === undefined) tell(error)
        else say(`${error.message}; write the value as JSON, with quotation marks around a text.`, true)
        input.focus()
      }
    }
    input.addEventListener('keydown', event => {
      event.stopPropagation()
      if (event.key === 'Enter') save()
      else if (event.key === 'Escape') leave(before)
    })
    input.addEventListener('blur', save)
  }

  function box(path) {
    return el('label', {}, el('input', {
      type: 'checkbox', checked: self.columns.includes(path), onchange: event => {
        kept.columns = self.columns = paths.filter(other => other === path ? event.target.checked : self.columns.includes(other))
        isMeasured = false
        countHidden()
        onchange()
      },
    }), text(path, 60))
  }

  function countHidden() {
    const isCut = narrow.matches && table.closest('.scroller')
    const shown = isCut ? Math.min(self.columns.length, fieldsOfCard) : self.columns.length
    const number = Math.min(paths.length, maximumOffered) - shown
    hidden.textContent = number > 0 ? ` ${number} hidden` : ''
  }

  function showHead() {
    const {columns} = self
    const key = JSON.stringify([columns, order, [...self.measured], narrow.matches])
    if (key === shownHead) return
    shownHead = key
    countHidden()
    const focused = head.contains(document.activeElement) ? document.activeElement.closest('th').dataset.path : null
    fill(group, ['_id', ...columns].map(path => {
      const column = el('col')
      column.style.width = `${widthOf(path)}px`
      return column
    }))
    setWidth()
    fill(head, el('tr', {}, ['_id', ...columns].map(header)))
    if (focused) [...head.querySelectorAll('th')].find(th => th.dataset.path === focused)?.querySelector('button').focus()
  }

  function setWidth() {
    table.style.width = `${[...group.children].reduce((sum, column) => sum + (parseFloat(column.style.width) || 0), 0)}px`
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
  if (isNumber(value)) return {text: line(value), kind: 'number'}
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
