// The beginning of a file that is imported, as the server reads it: its rows, the column of the ids, and whether it was imported before.
import {bytes, count, el, fill, labeled, text, visible} from './dom.js'
import {path, post, postForDocuments, send} from './api.js'
import {cell} from './grid.js'
import {isNumber, line, Numeral, parse} from './json.js'
import {chip} from './distribution.js'

const [previewed, longestBeginning, shownFields, comparedRows] = [10, 256 << 10, 12, 3]
const separators = {'': 'as recognized', ',': 'commas', ';': 'semicolons', tab: 'tabs', '|': 'bars'}

/**
 * @param target Returns the store that takes the file if it exists, and null otherwise.
 * @param rule Returns what becomes of documents that exist.
 * @returns element, parameters() of the import, compare(), which looks again whether the documents are in the store.
 */
export function preview(file, {target, rule, signal}) {
  const [table, facts, found] = [el('div'), el('p', {role: 'status', class: 'soft'}), el('p', {role: 'status', class: 'notice', hidden: true})]
  const reload = () => load().catch(failed)
  const id = el('select', {onchange: reload})
  // Another separator makes other columns.
  const separator = el('select', {onchange: () => {
    isFirst = true
    id.value = ''
    return reload()
  }}, Object.entries(separators).map(([value, label]) => el('option', {value}, label)))
  const options = el('p', {class: 'row', hidden: true}, labeled('Ids', id), labeled('Separator', separator))
  let [isFirst, documents, turn] = [true, [], 0]
  const parameters = () => ({...id.value && id.value !== '_id' && {id: id.value}, ...separator.value && {separator: separator.value}})
  const element = el('section', {id: 'preview', 'aria-label': 'Preview'}, facts, table, options, found)

  async function load() {
    const number = ++turn
    const address = addressOf('/_import', {file: file.name, limit: previewed, ...parameters()})
    const response = await send('POST', address, {body: file.slice(0, longestBeginning), signal, asks: false, headers: {'Content-Type': 'application/octet-stream'}})
    const reply = parse((await response.text()).trim())
    if (number !== turn) return
    element.classList.remove('failed')
    documents = reply.get('documents')
    const fields = reply.get('fields') ?? []
    if (isFirst) {
      isFirst = false
      const proposed = proposedID(fields, documents)
      fill(id, !fields.includes('_id') && el('option', {value: ''}, 'generated'), fields.map(name => el('option', {value: name, selected: name === proposed}, visible(name, 60))))
      separator.parentElement.hidden = !reply.get('separator')
      options.hidden = false
      if (proposed && proposed !== '_id') return load()
    }
    show(reply)
    await compare()
  }

  function show(reply) {
    const [format, separator, notices] = ['format', 'separator', 'notices'].map(name => reply.get(name))
    const names = [...new Set(['_id', ...documents.flatMap(doc => [...doc.keys()])])].filter(name => documents.some(doc => doc.has(name)))
    const shown = names.slice(0, shownFields)
    fill(facts, `${bytes(file.size)}. ${separator ? `A table, separated by ${separators[separator === '\t' ? 'tab' : separator] ?? visible(separator, 8)}` : visible(String(format).toUpperCase(), 40)}. `,
      documents.length ? `The first ${count(documents.length, 'document')}:` : 'There are no documents at its beginning.',
      // The end of a text is an error if all of the file was sent.
      [...(notices ?? []).filter(notice => !notice.includes('separated by')), ...file.size <= longestBeginning ? [reply.get('cut') ?? []].flat() : []].map(notice => el('span', {class: 'remark'}, visible(withoutOptions(notice), 600))))
    fill(table, documents.length > 0 && el('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'The first documents'}, el('table', {'aria-label': 'The first documents'},
      el('thead', {}, el('tr', {}, shown.map(name => el('th', {scope: 'col', title: visible(name)}, text(name, 60), ' ', typesOf(documents, name))))),
      el('tbody', {}, documents.map(doc => el('tr', {}, shown.map(name => cell(doc.get(name), name))))))),
    names.length > shown.length && el('p', {class: 'soft'}, `${count(names.length - shown.length, 'other field')}: ${visible(names.slice(shownFields).join(', '), 200)}`))
  }

  /** Says what is in the store already: by the ids, or else by all fields of the first documents. */
  async function compare() {
    const [store, number] = [target(), turn]
    const say = (...content) => {
      if (number !== turn) return
      fill(found, content)
      found.hidden = !content.length
    }
    if (!store || !documents.length) return say()
    const ids = documents.map(doc => doc.get('_id')).filter(id => typeof id === 'string')
    if (ids.length) {
      const {rows} = await post(path(store, '_all_docs'), {keys: ids}, signal)
      const existing = rows.filter(row => !row.error && !row.value.deleted).length
      const ends = {fail: 'the import ends at the first of them', skip: 'they stay as they are', replace: 'they are replaced'}
      return existing ? say(`${existing} of the first ${count(ids.length, 'document')} exist in the store; ${ends[rule()]}.`) : say()
    }
    const equal = await Promise.all(documents.slice(0, comparedRows).map(doc => isIn(store, doc)))
    say(...equal.some(Boolean) ? ['Documents equal to the first rows are in the store already. With generated ids they are imported again; '
      + 'choose a column as id, if one has a value of its own for each row.'] : [])
  }

  async function isIn(store, doc) {
    if (!doc.size || doc.has('')) return false
    const selector = new Map([...doc].map(([name, value]) => [name.replace(/\.|^\$/g, '\\$&'), new Map([['$eq', value]])]))
    return (await postForDocuments(path(store, '_find'), line(new Map([['selector', selector], ['limit', 1], ['fields', ['_id']]])), signal)).get('docs').length > 0
  }

  /** A server without previews, or a reader who may not ask, imports all the same. */
  function failed(error) {
    if (signal.aborted) return
    fill(table)
    found.hidden = true
    element.classList.add('failed')
    fill(facts, error.status === 400 && error.error !== 'illegal_database_name' ? visible(withoutOptions(error.message), 600) : null)
  }

  reload()
  return {element, parameters, compare: () => compare().catch(failed)}
}

/** In an address of the server, a plus is a plus. */
export function addressOf(resource, parameters) { return `${resource}?${String(new URLSearchParams(parameters)).replaceAll('+', '%20')}` }

/** Notices and errors name options of the command line, which the page does not have. */
export function withoutOptions(message) {
  const rest = message.replace(/ \(--[^()]*\)|, or give --[^;)]*/g, '')
  return rest.includes(' --') ? `${rest} (options of cdtquery import)` : rest
}

/** The field whose values are ids: it is called so, and each document has a value of its own. */
function proposedID(fields, documents) {
  return ['_id', 'id', 'key'].flatMap(wanted => fields.filter(name => name.toLowerCase() === wanted)).find(name => {
    const values = documents.map(doc => doc.get(name))
    return values.every(value => typeof value === 'string' && value || isNumber(value)) && new Set(values.map(line)).size === values.length
  })
}

function typesOf(documents, name) {
  const types = new Set(documents.filter(doc => doc.has(name)).map(doc => doc.get(name)).map(value =>
    value === null ? 'null' : Array.isArray(value) ? 'array' : value instanceof Map ? 'object' : value instanceof Numeral ? 'number' : typeof value))
  return [...types].map(type => chip(type))
}
