// What is done with all results of a query: downloads, updates and deletions.
import {asked, button, count, el, labeled, say, text, visible} from './dom.js'
import {path, post, postForDocuments, send, userOf} from './api.js'
import {namesInPath} from './grid.js'
import {line, Numeral, parse} from './json.js'
import {editor} from './editor.js'

const formats = {csv: 'CSV', jsonl: 'JSON Lines', json: 'JSON'}
/** The documents of one request. */
const batchSize = 500
/** The server takes paths of 8,000 bytes. */
const longestAddress = 7_500

/** The number of documents that match a selector. */
export async function countOf(store, selector, signal) {
  const group = new Map([['aggregates', new Map([['count', new Map([['$count', new Map()]])]])]])
  const {groups} = await post(path(store, '_find'), line(new Map([['selector', selector], ['group', group]])), signal)
  return groups[0]?.count ?? 0
}

/** @param wanted Returns the request whose results are shown, without its page. */
export function bulkMenu(store, wanted, done) {
  const menu = el('details', {class: 'menu'}, el('summary', {}, 'All results'), el('div', {},
    Object.entries(formats).map(([format, name]) => button(`Download as ${name}`, () => download(store, wanted(), format))),
    button('Update…', () => change(store, wanted().get('selector'), 'Update', done), {class: 'edits'}),
    button('Delete…', () => change(store, wanted().get('selector'), 'Delete', done), {class: 'edits'})))
  menu.addEventListener('click', event => { if (event.target.closest('button')) menu.open = false })
  return menu
}

/**
 * The browser saves the file as it comes. A long query does not fit into an address, and only scripts can name another user: then the file is
 * fetched first.
 */
async function download(store, wanted, format) {
  const [resource, body] = [path(store, '_results') + `?format=${format}`, line(wanted)]
  const address = `${resource}&request=${encodeURIComponent(body)}`
  const name = `${store}.${format}`
  if (!userOf(store) && address.length <= longestAddress) return el('a', {href: address, download: name}).click()
  const url = URL.createObjectURL(await (await send('POST', resource, {body})).blob())
  el('a', {href: url, download: name}).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Changes all documents that match, after their number was shown and the name of the store was typed. */
async function change(store, selector, action, done) {
  const total = await countOf(store, selector)
  if (!total) throw new Error('No document matches.')
  const fields = action === 'Update' && editor({label: 'Fields with their new values, such as {"pet.species": "cat"}', value: '{}', rows: 3})
  const names = fields && editor({label: 'Fields with their new names, such as {"stat": "state"}', value: '{}', rows: 2})
  const [word, refusals] = [fields ? 'changed' : 'deleted', []]
  const typed = el('input', {autocomplete: 'off', spellcheck: 'false'})
  const shown = el('code', {}, text(line(selector), 300))
  const changes = await new Promise(resolve => asked(`${action} ${count(total, 'document')} of ${store}?`, action, () => {
    const changes = fields && changesOf(fields, names)
    if (typed.value !== store) throw new Error('This is not the name of the store. Nothing is changed.')
    resolve(changes || [])
  }, () => resolve(null),
  el('p', {}, 'All documents that match ', shown, ` are ${word}, also those that are not shown.`),
  fields && [names.element, fields.element], labeled(['Type the name of the store to confirm: ', text(store)], typed)))
  if (!changes) return
  const edited = doc => {
    if (!fields) return line(new Map([['_id', doc.get('_id')], ['_rev', doc.get('_rev')], ['_deleted', true]]))
    let isChanged = false
    for (const {path, apply} of changes) {
      try {
        isChanged = apply(doc) || isChanged
      } catch (error) {
        refusals.push(visible(`document "${doc.get('_id')}", ${path}: ${error.message}`, 500))
        return []
      }
    }
    return isChanged ? line(doc) : []
  }
  // By their ids, so that a document that was changed does not come again.
  const request = new Map([['selector', selector], ['sort', [new Map([['_id', 'asc']])]], ['limit', batchSize]])
  if (!fields) request.set('fields', ['_id', '_rev'])
  let number = 0
  const progress = () => `${count(number, 'document')} ${word}`
  for (;;) {
    const reply = await postForDocuments(path(store, '_find'), line(request))
    const docs = reply.get('docs')
    const changed = docs.flatMap(edited)
    if (changed.length) {
      const rows = await post(path(store, '_bulk_docs'), `{"docs":[${changed.join(',')}]}`)
      const refused = rows.filter(row => row.error)
      refusals.push(...refused.map(row => row.reason))
      number += changed.length - refused.length
    }
    say(`${progress()} of ${total.toLocaleString('en')}…`)
    if (docs.length < batchSize) break
    request.set('bookmark', reply.get('bookmark'))
  }
  await done()
  const kept = refusals.length ? `; ${count(refusals.length, 'document')} left unchanged: ${refusals[0]}` : '.'
  say(`${progress()}${kept}`, refusals.length > 0)
}

/** What is to be done to each document, renames first. Refuses what `cdtquery update` refuses. */
function changesOf(fields, names) {
  const [values, renamed] = [objectOf(fields), objectOf(names)]
  if (!values.size && !renamed.size) throw new Error('No field was given; write fields with their new values in braces.')
  for (const path of [...renamed.keys(), ...renamed.values(), ...values.keys()]) {
    const problem = typeof path !== 'string' ? 'a new name is a text'
      : /(^|[^\\]\.)\$/.test(path) ? 'a name can\'t begin with $; write the fields themselves, as in {"pet.species": "cat", "pets.0.name": "Tom"}'
      : path.startsWith('_') ? 'names that begin with _ are the document\'s own; write another field'
      : namesInPath(path).includes('') && 'a name is missing in the path; write it before and after each dot'
    if (problem) throw new Error(`"${visible(String(path), 40)}": ${problem}.`)
  }
  return [...[...renamed].map(([path, newPath]) => {
    const [from, to] = [namesInPath(path), namesInPath(newPath)]
    if (from.every((name, at) => at >= to.length || name === to[at])) {
      throw new Error(`"${visible(path, 40)}": the new name is the field itself, in it or around it; name another, or rename in two steps.`)
    }
    return {path, apply: doc => {
      const value = takenFrom(doc, from)
      return value !== undefined && setAt(doc, to, value)
    }}
  }), ...[...values].map(([path, value]) => ({path, apply: doc => setAt(doc, namesInPath(path), value)}))]
}

function objectOf(field) {
  let value
  try {
    value = parse(field.value)
  } catch (error) {
    field.fail(error)
    throw new DOMException('', 'AbortError')
  }
  if (!(value instanceof Map)) throw new Error('Write fields with their new values in braces.')
  return value
}

/** Removes a field and returns its value; undefined if there is none. */
function takenFrom(outer, [name, ...names]) {
  const inner = outer instanceof Map ? outer.get(name) : Array.isArray(outer) && /^(0|[1-9]\d*)$/.test(name) ? outer[name] : undefined
  if (inner === undefined || names.length) return inner === undefined ? undefined : takenFrom(inner, names)
  if (Array.isArray(outer)) throw new Error('an element of an array can\'t be renamed; set the array')
  outer.delete(name)
  return inner
}

/** Sets a value, as `cdtquery update --set` does: also that of an element of an array. Missing objects on the way are made. */
export function setAt(outer, [name, ...names], value) {
  if (name === undefined) return value
  if (outer === undefined) return new Map([[name, setAt(outer, names, value)]])
  if (outer instanceof Map) return outer.set(name, setAt(outer.get(name), names, value))
  if (!Array.isArray(outer)) {
    const kind = outer === null ? 'null' : `a ${outer instanceof Numeral ? 'number' : typeof outer}`
    throw new Error(`${kind} has no field "${name}"; set the field above it`)
  }
  if (!/^(0|[1-9]\d*)$/.test(name) || name >= outer.length) throw new Error(`the array has no element "${name}"; give a position from 0`)
  outer[name] = setAt(outer[name], names, value)
  return outer
}
