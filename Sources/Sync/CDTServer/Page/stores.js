// The stores: how many documents, bytes, conflicts and indexes they have, as it changes.
import {asked, button, bytes, count, el, fileInput, fill, icon, labeled, say, shellQuoted, table, text} from './dom.js'
import {called, get, path, repeat, send, userOf} from './api.js'
import {importFile, takeDrops} from './import.js'
import {link} from './router.js'

const pageSize = 50

export async function showStores({main, parameters, signal}) {
  const skip = Math.max(0, Number(parameters.get('skip')) || 0)
  const list = el('div')
  const tools = el('div', {class: 'row', hidden: true}, button([icon('add'), 'New store'], () => makeStore(), {class: 'edits primary'}),
    button('Import a file', () => chooseFile(null), {class: 'edits'}), el('span', {class: 'counts edits'}, 'or drop one here'))
  let [names, target] = [[], null]
  const start = (file, store) => importFile(file, {store, names, signal})
  const file = fileInput(file => start(file, target))
  const chooseFile = store => {
    target = store
    file.click()
  }
  fill(main, el('div', {class: 'row'}, el('h1', {}, 'Stores'), tools, file), list)
  const details = new Map()
  let [beginning, isAdmin] = [null, null]
  const refresh = async () => {
    const infos = await get(`/_dbs_info?readable=true&conflicts=true&limit=${pageSize + 1}&skip=${skip}`, signal)
    // Those who may administer the server make and delete stores.
    if (isAdmin === null) {
      const {userCtx} = await get('/_session', signal)
      isAdmin = userCtx.roles.includes('_admin')
      // Somebody without a name who may read nothing is asked for one.
      if (!infos.length && !isAdmin && !userCtx.name) {
        await get('/_dbs_info?limit=0', signal).catch(error => { if (error.status !== 401 && error.status !== 403) throw error })
        if ((await get('/_session', signal)).userCtx.name) {
          isAdmin = null
          return refresh()
        }
        fill(list, el('p', {}, 'Log in to see the stores that you may read.'))
        return false
      }
    }
    if (isAdmin && tools.hidden) takeDrops(signal, file => start(file, null))
    tools.hidden = !isAdmin
    if (!infos.length) {
      beginning ??= skip ? el('p', {}, 'There are no more stores.') : isAdmin ? howToBegin((await get('/', signal)).directory)
        : el('p', {}, 'There are no stores here that you may read.')
    }
    // Those with neither were deleted meanwhile.
    const page = infos.slice(0, pageSize).filter(row => row.info || row.reason)
    await Promise.all(page.filter(row => row.info).map(row => update(details, row, signal)))
    names = page.map(row => row.key)
    const actions = {isAdmin, import: chooseFile, delete: (store, info) => deleteStore(store, info, refresh)}
    showList(list, page, details, pages(skip, infos.length > pageSize), actions, beginning)
  }
  await repeat(2000, signal, refresh)
}

function makeStore() {
  const name = el('input', {required: true, autocomplete: 'off', spellcheck: 'false'})
  asked('New store', 'Make it', async () => {
    await send('PUT', path(name.value))
    location.hash = link(name.value, 'documents')
  }, null, labeled('Name', name))
}

function deleteStore(store, info, refresh) {
  const typed = el('input', {required: true, autocomplete: 'off', spellcheck: 'false'})
  asked(['Delete ', text(store), '?'], 'Delete', async () => {
    if (typed.value !== store) throw new Error('This is not the name of the store. Nothing is deleted.')
    await send('DELETE', path(store))
    await refresh()
    say('The store is deleted.')
  }, null, el('p', {}, info ? `It has ${count(info.doc_count, 'document')}. ` : '', 'All of it is deleted, with revisions, attachments and indexes, and nothing brings it back.'),
  labeled(['Type the name of the store to confirm: ', text(store)], typed))
}

/** What is said in a directory without stores. The directory is known if the program runs on the reader's machine. */
function howToBegin(directory) {
  const place = directory ? /^[\w./-]+$/.test(directory) ? directory : shellQuoted(directory) : location.origin
  return [
    el('p', {}, 'There are no stores here yet.'),
    el('p', {class: 'edits'}, 'Make one, drop a file of documents here, or import files in a terminal:'),
    el('pre', {class: 'edits'}, text(`cdtquery import ${place}/NAME FILE`, 1_000)),
  ]
}

/** What can be done with a store. */
function menu(store, info, actions) {
  const items = el('div', {},
    info && button('Import a file…', () => actions.import(store), {class: 'edits'}),
    info && el('a', {href: path(store, '_backup'), download: ''}, 'Back up'),
    actions.isAdmin && button('Delete…', () => actions.delete(store, info), {class: 'edits danger'}))
  const element = el('details', {class: 'menu dots'}, el('summary', {'aria-label': `Actions for ${store}`, title: 'Actions'}, icon('more')), items)
  // A question then gives the focus back to what is seen.
  items.addEventListener('click', () => {
    element.open = false
    element.firstChild.focus()
  }, true)
  return element
}

/** Asks for what the list does not have: again when the store has changed, or after ten seconds, as indexes are not documents. */
async function update(details, {key, info}, signal) {
  const known = details.get(key)
  if (known && known.sequence === info.update_seq && Date.now() - known.time < 10_000) return
  try {
    const {total_rows: number} = await get(path(key, '_index') + '?limit=0', signal)
    // CouchDB counts the order of the ids as one.
    details.set(key, {sequence: info.update_seq, time: Date.now(), indexes: number - 1})
  } catch (error) {
    // It was deleted meanwhile, or is damaged.
    if (!error.status) throw error
  }
}

const columns = ['Store', 'Documents#', 'Size#', 'Conflicts#', 'Indexes#', '']

function showList(list, page, details, pages, actions, beginning) {
  const rows = page.map(({key, info, reason}) => {
    if (!info) return [el('span', {}, text(key), ': ', text(reason, 500)), '', '', '', '', menu(key, null, actions)]
    const known = details.get(key)
    const [{conflicts}, {indexes}] = [info, known ?? {}]
    const user = userOf(key)
    return [
      el('span', {}, el('a', {href: link(key, 'documents')}, text(key)), user && [' ', el('span', {class: 'notice'}, 'as ', text(called(user), 80))]), info.doc_count.toLocaleString('en'),
      bytes(info.sizes.file),
      conflicts === undefined ? '' : conflicts ? el('a', {href: link(key, 'conflicts')}, count(conflicts, 'conflict')) : '0',
      known ? el('a', {href: link(key, 'indexes'), 'aria-label': `${count(indexes, 'index', 'indexes')} of ${key}`}, `${indexes}`) : '',
      menu(key, info, actions),
    ]
  })
  const key = JSON.stringify([...rows, pages].map(row => row.map(cell => cell.textContent ?? cell)))
  if (list.dataset.key === key || list.querySelector('[open]')) return
  list.dataset.key = key
  const focused = list.contains(document.activeElement) ? nameOf(document.activeElement) : null
  fill(list, page.length ? table('Stores of this directory', columns, rows) : beginning, pages.length > 0 && el('p', {class: 'row'}, pages))
  list.firstChild?.classList.add('stores')
  // On a phone, the table has no head.
  for (const cell of list.querySelectorAll('.number')) if (!/[a-z]$/.test(cell.textContent)) cell.dataset.label = columns[cell.cellIndex].slice(0, -1)
  if (focused) [...list.querySelectorAll('a, summary')].find(element => nameOf(element) === focused)?.focus()
}

function nameOf(element) { return element.getAttribute('href') ?? element.getAttribute('aria-label') }

/** Links to the pages before and after this one. */
function pages(skip, hasMore) {
  const to = (skip, label) => el('a', {href: `#/?skip=${skip}`}, label)
  return [skip > 0 && to(Math.max(0, skip - pageSize), 'Previous stores'), hasMore && to(skip + pageSize, 'Next stores')].filter(Boolean)
}
