// What is done with all results of a query: downloads, updates and deletions.
import {asked, button, count, el, labeled, saveFile, say, text, visible} from './dom.js'
import {path, post, postForDocuments, send, userOf} from './api.js'
import {changesField} from './updates.js'
import {line} from './json.js'
import {menuOf} from './menus.js'

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
  return menuOf('All results', {}, Object.entries(formats).map(([format, name]) => button(`Download as ${name}`, () => download(store, wanted(), format))),
    button('Update…', () => change(store, wanted(), 'Update', done), {class: 'edits'}), el('hr', {class: 'edits'}),
    button('Delete…', () => change(store, wanted(), 'Delete', done), {class: 'edits danger'}))
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
  saveFile(name, await (await send('POST', resource, {body})).blob())
}

/** Changes all documents that match, after their number was shown and the name of the store was typed. */
async function change(store, wanted, action, done) {
  const selector = wanted.get('selector')
  if (wanted.has('collation')) throw new Error('Documents that another comparison of strings finds are not changed together; compare them by their bytes, in the options.')
  const total = await countOf(store, selector)
  if (!total) throw new Error('No document matches.')
  const leaving = new AbortController()
  const fields = action === 'Update' && changesField(store, selector, leaving.signal)
  const [word, refusals] = [fields ? 'changed' : 'deleted', []]
  const typed = el('input', {autocomplete: 'off', spellcheck: 'false'})
  const shown = el('code', {}, text(line(selector), 300))
  const apply = await new Promise(resolve => asked(`${action} ${count(total, 'document')} of ${store}?`, action, () => {
    const apply = fields && fields.read()
    if (typed.value !== store) throw new Error('This is not the name of the store. Nothing is changed.')
    resolve(apply || true)
  }, () => {
    leaving.abort()
    resolve(null)
  },
  el('p', {}, 'All documents that match ', shown, ` are ${word}, also those that are not shown.`),
  fields && fields.element, labeled(['Type the name of the store to confirm: ', text(store)], typed)))
  if (!apply) return
  const edited = doc => {
    if (!fields) return line(new Map([['_id', doc.get('_id')], ['_rev', doc.get('_rev')], ['_deleted', true]]))
    try {
      return apply(doc) ? line(doc) : []
    } catch (error) {
      refusals.push(visible(`document "${doc.get('_id')}", ${error.message}`, 500))
      return []
    }
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
