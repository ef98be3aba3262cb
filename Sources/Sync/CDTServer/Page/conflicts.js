// The documents with a conflict, and their revisions.
import {count, el, fill, revision, table, text} from './dom.js'
import {bulkGet, get, path, repeat} from './api.js'
import {importFile, takeDrops} from './import.js'
import {link} from './router.js'
import {arrivalOf} from './times.js'

const pageSize = 50

export async function showConflicts({main, store, parameters, signal}) {
  takeDrops(signal, file => importFile(file, {store, signal}))
  const skip = Math.max(0, Number(parameters.get('skip')) || 0)
  const list = el('div')
  fill(main, el('h1', {}, 'Conflicts'), list)
  let known
  await repeat(3000, signal, async () => {
    const {update_seq: sequence} = await get(path(store), signal)
    if (sequence === known) return
    const {total_rows: total, ids} = await get(path(store, '_conflicts') + `?limit=${pageSize}&skip=${skip}`, signal)
    const leaves = ids.length ? (await bulkGet(store, ids.map(id => ({id})), signal)).filter(leaf => leaf.get('_deleted') !== true) : []
    known = sequence
    const to = (skip, label) => el('a', {href: link(store, 'conflicts', {skip: Math.max(0, skip)})}, label)
    const rows = ids.map(id => {
      // Of the same generation, the one with the greatest digest wins.
      const own = leaves.filter(leaf => leaf.get('_id') === id).map(leaf => ({leaf, rev: leaf.get('_rev')}))
        .sort((a, b) => parseInt(b.rev) - parseInt(a.rev) || (a.rev < b.rev ? 1 : -1))
      const lines = of => own.map(({leaf, rev}, at) => el('div', {}, of(leaf, rev, at)))
      return [el('a', {href: link(store, 'document', {id})}, text(id, 200)), lines((_, rev) => revision(rev)), lines((_, rev, at) => `${parseInt(rev)}${at ? '' : ', winner'}`), lines(arrivalOf)]
    })
    fill(list, el('p', {}, total ? `${count(total, 'document')} with a conflict. Open one to merge its revisions.` : 'No document has a conflict.'),
      rows.length > 0 && table('Documents with a conflict', ['Document', 'Revisions', 'Generation', 'Written'], rows),
      el('p', {class: 'row'}, skip > 0 && to(skip - pageSize, 'Previous'), skip + ids.length < total && to(skip + pageSize, 'Next')))
  })
}
