// The stores: how many documents, bytes, conflicts and indexes they have, as it changes.
import {bytes, count, el, fill, table, text} from './dom.js'
import {called, get, path, repeat, userOf} from './api.js'
import {link} from './router.js'

const pageSize = 50

export async function showStores({main, parameters, signal}) {
  const skip = Math.max(0, Number(parameters.get('skip')) || 0)
  const list = el('div')
  const name = el('input', {id: 'store-name', required: true, spellcheck: 'false'})
  fill(main, el('h1', {}, 'Stores'), list,
    el('form', {
      class: 'row', onsubmit: event => {
        event.preventDefault()
        location.hash = link(name.value, 'documents')
      },
    }, el('label', {for: 'store-name'}, 'Open a store by its name'), name, el('button', {}, 'Open')))
  const details = new Map()
  await repeat(2000, signal, async () => {
    let infos
    try {
      infos = await get(`/_dbs_info?limit=${pageSize + 1}&skip=${skip}`, signal)
    } catch (error) {
      if (error.status !== 401 && error.status !== 403) throw error
      // Only server admins may list them.
      fill(list, el('p', {}, error.message))
      return false
    }
    // Those with neither were deleted meanwhile.
    const page = infos.slice(0, pageSize).filter(row => row.info || row.reason)
    await Promise.all(page.filter(row => row.info).map(row => update(details, row, signal)))
    showList(list, page, details, pages(skip, infos.length > pageSize))
  })
}

/** Asks for what the list does not have: again when the store has changed, or after ten seconds, as indexes are not documents. */
async function update(details, {key, info}, signal) {
  const known = details.get(key)
  if (known && known.sequence === info.update_seq && Date.now() - known.time < 10_000) return
  try {
    const [conflicts, indexes] = await Promise.all([
      get(path(key, '_conflicts') + '?limit=0', signal), get(path(key, '_index') + '?limit=0', signal),
    ])
    details.set(key, {
      sequence: info.update_seq, time: Date.now(), conflicts: conflicts.total_rows,
      // CouchDB counts the order of the ids as one.
      indexes: indexes.total_rows - 1,
    })
  } catch (error) {
    // It was deleted meanwhile, or is damaged.
    if (!error.status) throw error
  }
}

function showList(list, page, details, pages) {
  const rows = page.map(({key, info, reason}) => {
    if (!info) return [el('span', {}, text(key), ': ', text(reason, 500)), '', '', '', '']
    const known = details.get(key)
    const {conflicts, indexes} = known ?? {}
    const user = userOf(key)
    return [
      el('span', {}, el('a', {href: link(key, 'documents')}, text(key)), user && [' ', el('span', {class: 'notice'}, 'as ', text(called(user), 80))]), info.doc_count.toLocaleString('en'),
      bytes(info.sizes.file),
      !known ? '' : conflicts ? el('a', {href: link(key, 'conflicts')}, count(conflicts, 'conflict')) : '0',
      known ? el('a', {href: link(key, 'indexes'), 'aria-label': `${count(indexes, 'index', 'indexes')} of ${key}`}, `${indexes}`) : '',
    ]
  })
  const key = JSON.stringify([...rows, pages].map(row => row.map(cell => cell.textContent ?? cell)))
  if (list.dataset.key === key) return
  list.dataset.key = key
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null
  fill(list, page.length
    ? table('Stores of this directory', ['Store', 'Documents#', 'Size#', 'Conflicts#', 'Indexes#'], rows)
    : el('p', {}, 'There are no stores here yet.'), pages.length > 0 && el('p', {class: 'row'}, pages))
  if (focused) [...list.querySelectorAll('a')].find(a => a.getAttribute('href') === focused)?.focus()
}

/** Links to the pages before and after this one. */
function pages(skip, hasMore) {
  const to = (skip, label) => el('a', {href: `#/?skip=${skip}`}, label)
  return [skip > 0 && to(Math.max(0, skip - pageSize), 'Previous stores'), hasMore && to(skip + pageSize, 'Next stores')].filter(Boolean)
}
