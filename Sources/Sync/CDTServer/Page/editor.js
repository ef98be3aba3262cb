// A field for JSON: colors, line numbers, brackets and folding, completion of names and operators, and an error at its place.
import {button, el, fill, say, visible} from './dom.js'
import {failureText} from './api.js'
import {Fault, parse, pretty} from './json.js'
import {corrected, correctedLine} from './relaxed.js'

let number = 0

/**
 * @param rows The lines that are always seen; with one, it looks like other fields, and with more, the lines are numbered.
 * @param names Returns what a text in quotes that begins so can be completed to, after the text before it.
 * @param words Returns the same for a word without quotes, as it is written.
 * @returns element, value, area, clear(), fail(error), format()
 */
export function editor({label, value = '', rows = 6, names = null, words = () => [], id = `editor-${++number}`}) {
  const problem = el('p', {class: 'problem', id: `${id}-problem`, role: 'alert'})
  const list = el('ul', {class: 'completions', role: 'listbox', id: `${id}-list`, 'aria-label': 'Completions', hidden: true})
  const keys = rows > 1 && el('span', {class: 'hidden', id: `${id}-keys`}, 'Tab indents the selected lines; without a selection it leaves the field. Control with Shift and [ folds the object or array of the line, and with ] unfolds all.')
  const area = el('textarea', {
    id, rows, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off', 'aria-describedby': `${id}-problem${keys ? ` ${id}-keys` : ''}`,
    ...names && {role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': list.id, 'aria-haspopup': 'listbox'},
  })
  area.value = value
  const folds = foldsOf(area)
  const colored = paint(area, rows > 1 && folds)
  const size = () => {
    area.rows = Math.max(rows, Math.min(24, area.value.split('\n').length))
    colored.draw()
  }
  const field = {
    get value() { return folds.unfolded(area.value) },
    set value(text) {
      area.value = text
      field.clear()
      size()
    },
    area,
    clear() {
      fill(problem)
      colored.mark(null)
      area.removeAttribute('aria-invalid')
    },
    /** Shows an error, or each failure of a rule in a line, with its place if that is known, and the `remedy` that an error has. */
    fail(error) {
      say('')
      folds.unfold()
      const problems = error.failures?.length ? error.failures : [error]
      const places = placesOf(problems, area.value)
      area.setAttribute('aria-invalid', 'true')
      fill(problem, problems.map((problem, number) => {
        const before = places[number] && area.value.slice(0, places[number].start).split('\n')
        const column = problem instanceof Fault && before?.length ? `, column ${before.at(-1).length + 1}` : ''
        return `${number ? '\n' : ''}${before ? `Line ${before.length}${column}: ` : ''}${visible(problem.path ? failureText(problem) : problem.message, 1_000)}`
      }), error.remedy && [' ', error.remedy])
      const meant = error instanceof Fault && correction(area.value, error)
      if (meant) {
        fill(problem, problem.textContent, '; did you mean ', el('code', {}, visible(meant.text.trim(), 300)), '? ', button('Use it', () => {
          insert(area, meant.text, meant.start, meant.end)
          area.focus()
        }))
      }
      const place = places.find(Boolean)
      if (!place) return
      colored.mark(place)
      area.focus()
      area.setSelectionRange(place.start, place.start)
    },
  }
  field.format = () => {
    folds.unfold()
    try {
      const formatted = pretty(parse(area.value))
      if (formatted !== area.value) area.setRangeText(formatted, 0, area.value.length)
      field.clear()
      size()
    } catch (error) {
      field.fail(error)
    }
  }
  size()
  area.addEventListener('input', () => {
    field.clear()
    size()
  })
  area.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) area.form?.requestSubmit()
  })
  if (names) complete(area, list, names, words)
  if (rows > 1) area.addEventListener('keydown', indent)
  field.element = el('div', {class: 'editor'}, el('label', {for: id}, label), colored.element, list, keys, problem)
  return field
}

/** The line that is likely to be meant at a fault, or all of a text that is one line, and the range that it replaces. */
function correction(text, fault) {
  if (text.trim().includes('\n')) return correctedLine(text, fault)
  const meant = corrected(text)
  return meant === null ? null : {text: meant, start: 0, end: text.length}
}

/** Replaces a range, so that it can be undone. */
function insert(area, text, start, end) {
  area.focus()
  area.setSelectionRange(start, end)
  // Nothing else keeps what can be undone.
  if (document.execCommand(text ? 'insertText' : 'delete', false, text)) return
  area.setRangeText(text, start, end, 'end')
  area.dispatchEvent(new Event('input'))
}

/** Enter keeps the indentation, and Tab changes that of the selected lines. */
function indent(event) {
  const {target: area, key, shiftKey} = event
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  const {value: text, selectionStart: start, selectionEnd: end} = area
  const begin = text.lastIndexOf('\n', start - 1) + 1
  if (key === 'Enter' && !shiftKey) {
    event.preventDefault()
    const [space] = /^[ \t]*/.exec(text.slice(begin, start))
    const isOpen = /[[{]\s*$/.test(text.slice(begin, start))
    const rest = isOpen && /^[\]}]/.test(text.slice(end)) ? `\n${space}` : ''
    insert(area, `\n${space}${isOpen ? '  ' : ''}${rest}`, start, end)
    const caret = area.selectionEnd - rest.length
    area.setSelectionRange(caret, caret)
  } else if (key === 'Tab' && start !== end) {
    event.preventDefault()
    const lines = text.slice(begin, end).replace(shiftKey ? /^ {1,2}|^\t/gm : /^(?=.)/gm, shiftKey ? '' : '  ')
    insert(area, lines, begin, end)
    area.setSelectionRange(begin, begin + lines.length)
  }
}

// MARK: Colors

const tokens = /("(?:[^"\\]|\\.)*"?)(?=(\s*:)?)|('(?:[^'\\]|\\.)*'?)|(?<![\w$.])(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|\b(true|false|null)\b/g
const brackets = /"(?:[^"\\\n]|\\.)*"?|[[\]{}]/g
/** A line that is longer is not colored, and brackets are looked for in a text up to this length. */
const longestLine = 5_000
const longestText = 2_000_000

/**
 * A text area over its own text in colors, of which only the lines that are seen and those near them are made.
 *
 * @param folds What is folded by a click on the number of a line; false if the lines have no numbers.
 * @returns element, draw(), mark(range)
 */
function paint(area, folds) {
  const [shown, numbers] = [el('div'), el('div')]
  const gutter = folds && el('div', {class: 'gutter', 'aria-hidden': 'true', onmousedown: event => {
    event.preventDefault()
    folds.turn(Math.floor((event.clientY - numbers.getBoundingClientRect().top) / height()) + first)
  }}, numbers)
  let [text, starts, first, last, marked, pair] = [null, [0], 0, -1, null, []]
  const height = () => parseFloat(getComputedStyle(area).lineHeight) || 21
  /** Makes the lines again: all that may have changed, or only if others are seen. */
  const draw = (isChanged = true) => {
    if (area.value !== text) {
      text = area.value
      starts = [0, ...[...text.matchAll(/\n/g)].map(({index}) => index + 1)]
      isChanged = true
    }
    const top = Math.floor(area.scrollTop / height())
    const count = Math.ceil((area.clientHeight || 24 * height()) / height())
    if (isChanged || top < first || top + count > last && last < starts.length) {
      ;[first, last] = [Math.max(0, top - 50), Math.min(starts.length, top + count + 50)]
      const ranges = [marked && {...marked, kind: 'fault'}, ...pair.map(start => ({start, end: start + 1, kind: 'pair'}))].filter(Boolean)
      fill(shown, Array.from({length: Math.max(0, last - first)}, (_, at) => lineOf(text, starts, first + at, ranges)))
      const row = marked && starts.findLastIndex(start => start <= marked.start)
      if (folds) {
        fill(numbers, Array.from({length: Math.max(0, last - first)}, (_, at) => (
          el('div', {class: [first + at === row && 'fault', folds.kind(text.slice(starts[first + at], (starts[first + at + 1] ?? text.length + 1) - 1))].filter(Boolean).join(' ') || null}, first + at + 1))))
        element.style.setProperty('--digits', String(starts.length).length)
      }
    }
    const offset = first * height() - area.scrollTop
    shown.style.transform = `translate(${-area.scrollLeft}px, ${offset}px)`
    numbers.style.transform = `translateY(${offset}px)`
  }
  const match = () => {
    if (document.activeElement !== area && !pair.length) return
    const {selectionStart: at, selectionEnd: end} = area
    const beside = document.activeElement === area && at === end && [at - 1, at].find(place => '[]{}'.includes(area.value[place] || ' '))
    const found = typeof beside === 'number' && area.value.length <= longestText ? partner(area.value, beside) : null
    const now = found === null ? [] : [beside, found]
    if (now.join() === pair.join()) return
    pair = now
    draw()
  }
  const behind = el('pre', {class: 'behind', 'aria-hidden': 'true'}, shown)
  const element = el('div', {class: `stack${folds ? ' numbered' : ''}`}, behind, gutter, area)
  area.addEventListener('scroll', () => draw(false))
  for (const event of ['keyup', 'click', 'input', 'focus', 'blur']) area.addEventListener(event, match)
  new ResizeObserver(() => draw(false)).observe(area)
  return {element, draw, mark(range) {
    if (!range && !marked) return
    marked = range && {start: range.start, end: Math.max(range.end, range.start + 1)}
    draw()
  }}
}

/** A line in colors, with the ranges that are marked. */
function lineOf(text, starts, row, ranges) {
  const [start, end] = [starts[row], (starts[row + 1] ?? text.length + 1) - 1]
  const content = text.slice(start, end)
  const parts = []
  const found = content.length > longestLine ? [] : [...content.matchAll(tokens)].map(({0: token, 1: string, 2: colon, 3: single, 4: numeral, index}) => (
    {from: index, to: index + token.length, kind: string ? colon ? 'key' : 'string' : single ? 'string' : numeral ? 'numeral' : 'word'}))
  const inside = ranges.filter(range => range.start <= end && range.end > start).map(range => (
    {from: Math.max(0, range.start - start), to: range.end - start, kind: range.kind}))
  const edges = [...new Set([0, content.length, ...[...found, ...inside].flatMap(({from, to}) => [from, Math.min(to, content.length)])])].sort((a, b) => a - b)
  let token = 0
  for (const [at, from] of edges.slice(0, -1).entries()) {
    while (found[token]?.to <= from) token++
    const color = found[token]?.from <= from ? found[token].kind : null
    const mark = inside.find(range => range.from <= from && range.to > from)
    const piece = content.slice(from, edges[at + 1])
    parts.push(color || mark ? el(mark?.kind === 'fault' ? 'mark' : 'span', {class: [color, mark?.kind].filter(Boolean).join(' ')}, piece) : piece)
  }
  // A fault behind the last character.
  if (inside.some(range => range.kind === 'fault' && range.from >= content.length)) parts.push(el('mark', {class: 'fault'}, ' '))
  return el('div', {}, parts, '\n')
}

/** The bracket that belongs to the one at a place; null if there is none. */
function partner(text, at) {
  const open = []
  for (const {0: token, index} of text.matchAll(brackets)) {
    if (token[0] === '"') continue
    if ('[{'.includes(token)) open.push(index)
    else {
      const start = open.pop()
      if (start !== at && index !== at) continue
      if (start === undefined || text[start] + token !== '[]' && text[start] + token !== '{}') return null
      return index === at ? start : index
    }
  }
  return null
}

// MARK: Folding

/**
 * The objects and arrays of a text area that are folded: each has a mark in its place, which is part of the text that can be undone, moved and
 * deleted. What the field is worth, and what is wrong with it, is told with all of them unfolded.
 */
function foldsOf(area) {
  const texts = new Map()
  const marks = /⋯\d+⋯/g
  const unfolded = text => text.replace(marks, mark => texts.has(mark) ? unfolded(texts.get(mark)) : mark)
  const change = (text, start, end, caret) => {
    insert(area, text, start, end)
    area.setSelectionRange(caret, caret)
  }
  area.addEventListener('keydown', event => {
    if (!(event.ctrlKey || event.metaKey) || !event.shiftKey || !['BracketLeft', 'BracketRight'].includes(event.code)) return
    event.preventDefault()
    if (event.code === 'BracketRight') self.unfold()
    else self.turn(area.value.slice(0, area.selectionStart).split('\n').length - 1)
  })
  const self = {
    unfolded,
    unfold() {
      const text = unfolded(area.value)
      if (text !== area.value) change(text, 0, area.value.length, 0)
      texts.clear()
    },
    kind: line => [...line.matchAll(marks)].some(([mark]) => texts.has(mark)) ? 'folded' : /[[{]\s*$/.test(line) ? 'open' : null,
    /** Folds what begins in a line, or unfolds what is folded there. */
    turn(row) {
      const start = area.value.split('\n').slice(0, row).reduce((sum, line) => sum + line.length + 1, 0)
      const line = area.value.slice(start).split('\n', 1)[0]
      if (self.kind(line) === 'folded') return change(line.replace(marks, mark => texts.get(mark) ?? mark), start, start + line.length, start)
      const open = /[[{]\s*$/.exec(line)
      const close = open && partner(area.value, start + open.index)
      if (!close) return area.setSelectionRange(start, start + line.length)
      const [from, all] = [start + open.index + 1, unfolded(area.value)]
      let number = texts.size + 1
      while (all.includes(`⋯${number}⋯`)) number++
      texts.set(`⋯${number}⋯`, area.value.slice(from, close))
      change(`⋯${number}⋯`, from, close, start)
    },
  }
  return self
}

// MARK: Places of errors

/** The ranges of errors: that of a fault, of the failure of a rule, or of the path with which a refusal of the server begins. */
function placesOf(errors, text) {
  const places = []
  try {
    parse(text, (path, start, end) => places.push({path: path.join('.'), start, end}))
  } catch {
    return errors.map(error => error instanceof Fault ? error : null)
  }
  return errors.map(error => {
    if (error instanceof Fault) return error
    // The longest path that the message begins with: "age.$gtt: unknown operator".
    const message = error.path ? pathInDocument(error) + ':' : error.message.replace(/\[(\d+)\]/g, '.$1')
    const begins = path => [path, path.replace(/^selector\./, '')].some(path =>
      path && message.startsWith(path) && /^[.:\s]/.test(message.slice(path.length)))
    return places.filter(({path}) => begins(path)).sort((a, b) => b.path.length - a.path.length)[0] ?? null
  })
}

/** The path of a failure without the name that rules have for the document. */
function pathInDocument({path}) { return path[0] === 'newDoc' ? path.slice(1).join('.') : '' }

// MARK: Completion

function complete(area, list, names, words) {
  let [start, chosen, options, isQuoted] = [0, -1, [], true]
  const close = () => {
    list.hidden = true
    options = []
    area.setAttribute('aria-expanded', 'false')
    area.removeAttribute('aria-activedescendant')
  }
  const mark = position => {
    chosen = (position + options.length) % options.length
    for (const [at, item] of [...list.children].entries()) item.setAttribute('aria-selected', at === chosen)
    area.setAttribute('aria-activedescendant', `${list.id}-${chosen}`)
    list.children[chosen].scrollIntoView({block: 'nearest'})
  }
  const take = position => {
    const after = area.value[area.selectionStart] === '"' ? 1 : 0
    const taken = isQuoted ? JSON.stringify(options[position]).slice(1, -1) + '"' : options[position]
    area.setRangeText(taken, start, area.selectionStart + (isQuoted ? after : 0), 'end')
    area.dispatchEvent(new Event('input'))
    close()
  }
  const offer = () => {
    const before = area.value.slice(0, area.selectionStart)
    // A string that is not ended: the quotes before it are in pairs.
    const quote = before.lastIndexOf('"')
    isQuoted = quote >= 0 && (before.match(/(?<!\\)"/g)?.length ?? 0) % 2 === 1
    start = isQuoted ? quote + 1 : before.length - /[^\s"'{}[\](),:=<>!]*$/.exec(before)[0].length
    const begun = before.slice(start)
    const found = !isQuoted ? words(begun, before.slice(0, start)) : /[\n:]/.test(begun) ? [] : names(begun, before.slice(0, quote))
    options = found.filter(name => name !== begun).slice(0, 50)
    if (!options.length) return close()
    fill(list, options.map((name, at) => el('li', {
      role: 'option', id: `${list.id}-${at}`, onmousedown: event => {
        event.preventDefault()
        take(at)
      },
    }, visible(name, 80))))
    list.hidden = false
    area.setAttribute('aria-expanded', 'true')
    // Of words, one is taken only if it was chosen: without quotes, what was typed may be all of it.
    if (isQuoted) mark(0)
    else {
      chosen = -1
      area.removeAttribute('aria-activedescendant')
    }
  }
  close()
  area.addEventListener('input', offer)
  area.addEventListener('blur', close)
  area.addEventListener('keydown', event => {
    if (list.hidden) return
    const actions = {
      ArrowDown: () => mark(chosen + 1), ArrowUp: () => mark(Math.max(chosen, 0) - 1), Enter: () => take(chosen), Tab: () => take(Math.max(chosen, 0)), Escape: close,
    }
    if (event.ctrlKey || event.metaKey) return close()
    if (!actions[event.key] || event.shiftKey || event.key === 'Enter' && chosen < 0) return
    event.preventDefault()
    actions[event.key]()
  })
}
