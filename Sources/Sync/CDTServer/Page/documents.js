// The documents in the order of their ids. Only the rows that are seen are in the page, and only those near them are fetched.
import {choice, count, el, fill, say, tell, text, visible} from './dom.js'
import {grid} from './grid.js'
import {importFile, takeDrops} from './import.js'
import {get, lines, long, path, repeat, send} from './api.js'
import {beginning, parse} from './json.js'
import {link, remember, returnToPlace} from './router.js'

/** The rows of a fetch, and the fetches that are kept: those nearest to what is seen. */
const blockSize = 50
const keptBlocks = 20
/** Browsers limit the height of an element; beyond this one, a pixel stands for more rows. */
const greatestHeight = 12_000_000
const firstColumns = 6

export async function showDocuments({main, store, parameters, signal}) {
  const state = {
    store, signal, sequence: null, total: 0, first: 0, blocks: new Map(), generation: 0, loading: new Set(), failed: new Map(),
    form: parameters.get('as') === 'JSON' ? 'JSON' : 'Table',
  }
  // The number of documents that the database has is not the one that the user sees.
  const total = async () => (await get(path(store, '_all_docs') + '?limit=0', signal)).total_rows
  const [info, seen, fields] = await Promise.all([get(path(store), signal), total(), get(path(store, '_fields') + '?limit=1000', signal)])
  // An object has its members as columns, and an array is one.
  const paths = fields.fields.filter(field => !field.path.includes('[]') && Object.keys(field.types).join() !== 'object')
  state.paths = paths.sort((a, b) => b.documents - a.documents).map(field => field.path)
  state.heading = el('p', {id: 'document-count'})
  build(state, main)
  state.sequence = info.update_seq
  setTotal(state, seen)
  returnToPlace()
  takeDrops(signal, file => importFile(file, {store, signal}))
  await repeat(2000, signal, async () => {
    const info = await get(path(store), signal)
    // What could not be fetched before is fetched now.
    if (info.update_seq === state.sequence) return fetchSoon(state)
    state.sequence = info.update_seq
    // What is shown stays until the new rows are there.
    state.generation++
    setTotal(state, await total())
  })
}

function build(state, main) {
  state.grid = grid({
    label: 'Documents', store: state.store, 'aria-describedby': 'document-count', onchange: () => render(state),
    // A query sorts by an index, says how long it takes, and offers the index that is missing.
    onsort: name => { location.hash = link(state.store, 'query', {selector: '{}', sort: name === '_id' ? '_id:desc' : name}) },
  })
  state.grid.sorted('_id', 'ascending')
  state.grid.offer(state.paths, firstColumns)
  state.table = state.grid.element
  state.sizer = el('div', {class: 'sizer'})
  state.scroller = el('div', {
    class: 'grid scroller', tabindex: '0', role: 'region', 'aria-label': 'Documents', onscroll: () => scrolled(state),
    onkeydown: event => moved(state, event),
  }, el('div', {class: 'window'}, state.table), state.sizer)
  const start = el('input', {id: 'start', spellcheck: 'false', size: '16'})
  fill(main,
    el('div', {class: 'row'}, el('h1', {}, 'Documents'), state.heading,
      el('a', {class: 'button edits', href: link(state.store, 'document', {new: '1'})}, 'Add a document'),
      choice('Show as', 'form', ['Table', 'JSON'], state.form, form => {
        state.form = form
        remember(link(state.store, 'documents', form === 'JSON' ? {as: 'JSON'} : {}))
        render(state)
      }),
      state.grid.menu,
      el('form', {
        class: 'row', onsubmit: event => {
          event.preventDefault()
          goTo(state, start.value).catch(tell)
        },
      }, el('label', {for: 'start'}, 'Go to id'), start, el('button', {}, 'Go'))),
    state.scroller)
  new ResizeObserver(() => {
    state.height = null
    setTotal(state, state.total)
  }).observe(state.scroller)
}

async function goTo(state, id) {
  // The offset is the number of the documents before the id.
  const {offset, rows} = await get(path(state.store, '_all_docs') + `?limit=1&startkey=${encodeURIComponent(JSON.stringify(id))}`, state.signal)
  setFirst(state, offset)
  say(rows.length ? '' : 'There are no documents from this id on.')
}

// MARK: Scrolling

/** The height of a row. On a phone it is a card, and there is no row with the names of the columns. */
function rowHeight(state) {
  if (!state.height) {
    const style = getComputedStyle(state.scroller)
    ;[state.height, state.headRows] = [parseFloat(style.getPropertyValue('--row')) || 32, parseFloat(style.getPropertyValue('--head'))]
  }
  return state.height
}

function rowsSeen(state) {
  const rows = Math.floor(state.scroller.clientHeight / rowHeight(state))
  return Math.max(1, rows - state.headRows)
}

function greatestFirst(state) { return Math.max(0, state.total - rowsSeen(state)) }

function setTotal(state, total) {
  state.total = total
  state.heading.textContent = count(total, 'document')
  const height = Math.min(greatestHeight, total * rowHeight(state))
  state.sizer.style.height = `${height}px`
  setFirst(state, Math.min(state.first, greatestFirst(state)))
}

/** Scrolls to a row: exactly, also where a pixel stands for several. */
function setFirst(state, first) {
  state.first = Math.max(0, Math.min(first, greatestFirst(state)))
  const range = state.scroller.scrollHeight - state.scroller.clientHeight
  const top = greatestFirst(state) ? state.first / greatestFirst(state) * range : 0
  state.setTop = Math.round(top)
  state.scroller.scrollTop = state.setTop
  render(state)
}

function scrolled(state) {
  const top = state.scroller.scrollTop
  // What setFirst has caused.
  if (Math.abs(top - state.setTop) < 1.5) return
  state.setTop = top
  const range = state.scroller.scrollHeight - state.scroller.clientHeight
  state.first = range > 0 ? Math.round(top / range * greatestFirst(state)) : 0
  render(state)
}

function moved(state, event) {
  if (event.target !== state.scroller && !event.target.closest('td')) return
  const seen = rowsSeen(state)
  const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: seen, PageUp: -seen, Home: -Infinity, End: Infinity}
  if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  setFirst(state, state.first + steps[event.key])
}

// MARK: Rows

function render(state) {
  if (!state.scroller.isConnected) return
  const seen = rowsSeen(state) + 1
  state.grid.measure((state.blocks.get(Math.floor(state.first / blockSize))?.rows ?? []).flatMap(row => row.doc ?? []))
  const rows = []
  for (let at = state.first; at < Math.min(state.first + seen, state.total); at++) rows.push(rowOf(state, at))
  const focused = state.grid.body.contains(document.activeElement) ? document.activeElement.closest('tr').ariaRowIndex : null
  state.grid.show(rows, state.form)
  state.table.setAttribute('aria-rowcount', state.total + 1)
  if (focused) (rows.find(row => row.ariaRowIndex === focused)?.querySelector('a') ?? state.scroller).focus({preventScroll: true})
  fetchSoon(state)
}

function rowOf(state, at) {
  const row = state.blocks.get(Math.floor(at / blockSize))?.rows[at % blockSize]
  const cells = []
  const columns = state.form === 'JSON' ? 1 : state.grid.columns.length
  if (!row) {
    cells.push(el('td', {class: 'waiting'}, '…'), ...Array.from({length: columns}, () => el('td')))
  } else {
    cells.push(el('td', {title: row.id.length > 12 ? visible(row.id) : null}, el('a', {href: link(state.store, 'document', {id: row.id})}, text(row.id || '(empty)', 120))))
    if (!row.doc) cells.push(el('td', {colspan: columns, class: 'waiting'}, `${count(row.length, 'character')} of JSON, too long for a row`))
    else if (state.form === 'JSON') cells.push(el('td', {class: 'value'}, text(beginning(row.doc))))
    else cells.push(...state.grid.cells(row.doc))
  }
  return el('tr', {'aria-rowindex': at + 2}, cells)
}

function fetchSoon(state) {
  clearTimeout(state.timer)
  // While somebody scrolls fast, what is passed is not fetched.
  state.timer = setTimeout(() => {
    const last = Math.min(state.total - 1, state.first + rowsSeen(state))
    for (let block = Math.floor(state.first / blockSize); block <= Math.floor(last / blockSize); block++) {
      const {generation} = state
      if ([state.blocks.get(block)?.generation, state.failed.get(block)].includes(generation) || state.loading.has(block)) continue
      load(state, block).catch(error => {
        // If the server does not answer, the question for changes tells it. Other failures stay until the store changes.
        if (error.status === 0) return
        state.failed.set(block, generation)
        tell(error)
      })
    }
  }, state.blocks.size ? 60 : 0)
}

async function load(state, block) {
  state.loading.add(block)
  const {generation} = state
  try {
    const address = path(state.store, '_all_docs') + `?include_docs=true&limit=${blockSize}&skip=${block * blockSize}`
    const response = await send('GET', address, {signal: state.signal})
    const rows = []
    for await (const {text, isWhole, length} of lines(response)) {
      if (!text.startsWith('{"id"')) continue
      if (!isWhole) rows.push(long(text, length))
      else {
        const row = parse(text.replace(/,$/, ''))
        rows.push({id: row.get('id'), doc: row.get('doc')})
      }
    }
    state.blocks.set(block, {rows, generation})
    const distance = block => Math.abs(block * blockSize - state.first)
    while (state.blocks.size > keptBlocks) {
      state.blocks.delete([...state.blocks.keys()].reduce((farthest, block) => distance(block) > distance(farthest) ? block : farthest))
    }
    render(state)
  } finally {
    state.loading.delete(block)
  }
}
