// The documents with a conflict.
import {count, el, fill, text} from './dom.js'
import {get, path, repeat} from './api.js'
import {link} from './router.js'

const pageSize = 200

export async function showConflicts({main, store, parameters, signal}) {
  const skip = Math.max(0, Number(parameters.get('skip')) || 0)
  const list = el('div')
  fill(main, el('h1', {}, 'Conflicts'), list)
  let known
  await repeat(3000, signal, async () => {
    const {total_rows: total, ids} = await get(path(store, '_conflicts') + `?limit=${pageSize}&skip=${skip}`, signal)
    const key = JSON.stringify([total, ids])
    if (key === known) return
    known = key
    fill(list, el('p', {}, total ? `${count(total, 'document')} with a conflict. Open one to merge its revisions.` : 'No document has a conflict.'),
      el('ul', {}, ids.map(id => el('li', {}, el('a', {href: link(store, 'document', {id})}, text(id, 200))))),
      el('p', {class: 'row'}, skip > 0 && el('a', {href: link(store, 'conflicts', {skip: Math.max(0, skip - pageSize)})}, 'Previous'),
        skip + ids.length < total && el('a', {href: link(store, 'conflicts', {skip: skip + pageSize})}, 'Next')))
  })
}
