// Changes of fields in all documents that match, as `cdtquery update` makes them, with a preview of a few documents.
import {button, count, el, fill, text, visible} from './dom.js'
import {path, postForDocuments} from './api.js'
import {namesInPath} from './grid.js'
import {isNumber, line, parse} from './json.js'
import {differences, leavesOf, pathText, valueText} from './merge.js'
import {namesOf} from './names.js'
import {corrected} from './relaxed.js'

const kinds = {set: 'Set', unset: 'Remove', increment: 'Increment', rename: 'Rename'}
/** The word between the field and the second text of a change, and the name of that text. */
const seconds = {set: ['to', 'Value'], increment: ['by', 'Amount'], rename: ['to', 'New name']}
const previewed = 5

/**
 * A list of changes, and the first documents before and after them.
 *
 * @returns element, read(): a function that changes a document and returns whether it has; it throws if one of the changes is invalid.
 */
export function changesField(store, selector, signal) {
  const [rows, names] = [el('div'), el('datalist', {id: 'fields-to-change'})]
  const [summary, list] = [el('p', {class: 'soft', role: 'status'}, 'Write a field to see the first documents before and after.'), el('ul')]
  let [docs, timer] = [null, null]
  const read = () => {
    const changes = [...rows.children].map(row => row.read()).filter(Boolean)
    if (!changes.length) throw new Error('No change was given; write the name of a field.')
    return doc => changes.reduce((isChanged, {path, apply}) => {
      try {
        return apply(doc) || isChanged
      } catch (error) {
        throw new Error(`${path}: ${error.message}`)
      }
    }, false)
  }
  const preview = () => {
    if (!docs) return
    let apply
    try {
      apply = read()
    } catch (error) {
      fill(list)
      return fill(summary, visible(error.message, 300))
    }
    const results = docs.map(doc => resultOf(doc, apply))
    fill(list, results.map(({element}) => element))
    fill(summary, `${results.filter(({isChanged}) => isChanged).length} of the first ${count(docs.length, 'document')} ${docs.length === 1 ? 'is' : 'are'} changed:`)
  }
  const add = () => {
    rows.append(changeRow(() => element.dispatchEvent(new Event('input'))))
    number()
  }
  const number = () => {
    for (const [at, row] of [...rows.children].entries()) row.number(at + 1, rows.children.length > 1)
  }
  const element = el('fieldset', {
    class: 'changes', 'aria-label': 'Changes', oninput: () => {
      element.dataset.unsaved = ''
      number()
      clearTimeout(timer)
      timer = setTimeout(preview, 200)
    },
  }, names, rows, el('p', {class: 'row'}, button('Add a change', () => {
    add()
    rows.lastChild.querySelector('input').focus()
  })), el('div', {class: 'previews', role: 'group', tabindex: '0', 'aria-label': 'The first documents, before and after'}, summary, list))
  add()
  const request = new Map([['selector', selector], ['sort', [new Map([['_id', 'asc']])]], ['limit', previewed]])
  postForDocuments(path(store, '_find'), line(request), signal).then(reply => {
    docs = reply.get('docs')
    if ('unsaved' in element.dataset) preview()
  }).catch(error => { if (!signal.aborted) fill(summary, `There is no preview: ${error.message}`) })
  namesOf(store, signal).then(({fields}) => fill(names, fields.slice(2).map(value => el('option', {value})))).catch(() => {})
  return {element, read}
}

/** One change. @param changed Called when it is removed. */
function changeRow(changed) {
  const plain = {autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false'}
  const kind = el('select', {}, Object.entries(kinds).map(([value, label]) => el('option', {value}, label)))
  const [field, word, value] = [el('input', {...plain, list: 'fields-to-change', placeholder: 'field'}), el('span', {class: 'soft'}), el('input', plain)]
  const close = button('✕', () => {
    row.remove()
    changed()
  })
  const row = el('div', {class: 'row change'}, kind, field, word, value, close)
  row.number = (number, isOneOfMany) => {
    const [between, name] = seconds[kind.value] ?? ['', '']
    for (const [element, label] of [[kind, 'Change'], [field, 'Field'], [value, name], [close, 'Leave out change']]) element.setAttribute('aria-label', `${label} ${number}`)
    word.textContent = between
    value.placeholder = {set: 'value, such as 7, true or "text"', increment: '1', rename: 'new name'}[kind.value] ?? ''
    value.hidden = word.hidden = !name
    close.hidden = !isOneOfMany
  }
  row.read = () => field.value.trim() || !value.hidden && value.value.trim() ? changeOf(kind.value, field.value.trim(), value.value.trim()) : null
  return row
}

/** A document as it is, and the fields that changes of it change. */
function resultOf(doc, apply) {
  const after = parse(line(doc))
  const id = el('b', {}, text(doc.get('_id'), 60))
  try {
    apply(after)
  } catch (error) {
    return {element: el('li', {}, id, el('span', {class: 'problem'}, ' stays as it is: ', visible(error.message, 300)))}
  }
  const [was, is, keys] = [leavesOf(doc), leavesOf(after), differences([doc, after])]
  return {isChanged: keys.length > 0, element: el('li', {}, id, !keys.length && el('span', {class: 'soft'}, ' stays as it is'),
    keys.slice(0, 20).map(key => el('div', {}, text(pathText(key), 60), ' ', valueText(was.get(key)), ' → ', valueText(is.get(key)))))}
}

// MARK: Changing

/** Refuses what `cdtquery update` refuses. */
function changeOf(kind, path, second) {
  check(path)
  const names = namesInPath(path)
  if (kind === 'unset') return {path, apply: doc => takenFrom(doc, names, "can't be removed") !== undefined}
  if (kind === 'rename') {
    check(second)
    const newNames = namesInPath(second)
    if (names.every((name, at) => at >= newNames.length || name === newNames[at])) {
      throw new Error(`"${visible(path, 40)}": the new name is the field itself, in it or around it; name another, or rename in two steps.`)
    }
    return {path, apply: doc => {
      const value = takenFrom(doc, names, "can't be renamed")
      return value !== undefined && Boolean(setAt(doc, newNames, () => value))
    }}
  }
  const value = kind === 'increment' && !second ? 1 : valueOf(second, path)
  if (kind === 'increment' && !isNumber(value)) throw new Error(`"${visible(path, 40)}": the amount is a number.`)
  return {path, apply: doc => Boolean(setAt(doc, names, kind === 'set' ? () => value : old => sum(old, value)))}
}

function check(path) {
  const problem = /(^|[^\\]\.)\$/.test(path) ? 'a name can\'t begin with $; write the field itself, as in pet.species or pets.0.name'
    : path.startsWith('_') ? 'names that begin with _ are the document\'s own; write another field'
    : namesInPath(path).includes('') && 'a name is missing in the path; write it before and after each dot'
  if (problem) throw new Error(`"${visible(path, 40)}": ${problem}.`)
}

/** The value of JSON, or of a word that needs quotation marks. */
function valueOf(written, path) {
  try {
    return parse(written)
  } catch (fault) {
    const meant = written && corrected(`{"": ${written}}`)
    const members = meant && parse(meant)
    if (members?.size === 1) return members.get('')
    throw new Error(`"${visible(path, 40)}": ${written ? `the value is not JSON: ${fault.message}; a text of several words stands in quotes` : 'the value is missing'}.`)
  }
}

function kindOf(value) {
  if (value === null || isNumber(value)) return value === null ? 'null' : 'a number'
  return Array.isArray(value) ? 'an array' : value instanceof Map ? 'an object' : `a ${typeof value}`
}

function sum(number, amount) {
  if (number === undefined) return amount
  if (!isNumber(number)) throw new Error(`the field is ${kindOf(number)}, not a number; set it to one first`)
  const texts = [number, amount].map(line)
  const integers = texts.map(text => /^-?\d+$/.test(text) ? BigInt(text) : Number.isInteger(Number(text)) && Math.abs(text) < 2 ** 63 ? BigInt(Number(text)) : null)
  const isLong = value => value !== null && BigInt.asIntN(64, value) !== value
  const result = integers.includes(null) ? Number(texts[0]) + Number(texts[1]) : integers[0] + integers[1]
  if (integers.some(isLong) || (typeof result === 'bigint' ? isLong(result) : !isFinite(result))) {
    throw new Error("the sum exceeds a number's range, or would lose digits; set the field")
  }
  const written = String(result)
  return parse(typeof result === 'number' && /^-?\d+$/.test(written) ? `${written}.0` : written)
}

/** Removes a field and returns its value; undefined if there is none. */
function takenFrom(outer, [name, ...names], refusal) {
  const inner = outer instanceof Map ? outer.get(name) : Array.isArray(outer) && /^(0|[1-9]\d*)$/.test(name) ? outer[name] : undefined
  if (inner === undefined || names.length) return inner === undefined ? undefined : takenFrom(inner, names, refusal)
  if (Array.isArray(outer)) throw new Error(`an element of an array ${refusal}; set the array`)
  outer.delete(name)
  return inner
}

/** Sets a value, as `cdtquery update --set` does: also that of an element of an array. Missing objects on the way are made. */
export function setAt(outer, [name, ...names], make) {
  if (name === undefined) return make(outer)
  if (outer === undefined) return new Map([[name, setAt(outer, names, make)]])
  if (outer instanceof Map) return outer.set(name, setAt(outer.get(name), names, make))
  if (!Array.isArray(outer)) throw new Error(`${kindOf(outer)} has no field "${name}"; set the field above it`)
  if (!/^(0|[1-9]\d*)$/.test(name) || name >= outer.length) throw new Error(`the array has no element "${name}"; give a position from 0`)
  outer[name] = setAt(outer[name], names, make)
  return outer
}
