// All documents of a store in the order of their ids. Only the rows that are seen are in the page, and only those near them are fetched.
import {el, tell} from './dom.js'
import {get, lines, long, path, repeat, send} from './api.js'
import {parse} from './json.js'

/** The rows of a fetch, and the fetches that are kept: those nearest to what is seen. */
const blockSize = 50
const keptBlocks = 20
/** Browsers limit the height of an element; beyond this one, a pixel stands for more rows. */
const greatestHeight = 12_000_000

/**
 * @param table The grid of the documents.
 * @param fields The fields of the documents with their shares, which are the columns.
 * @param counted Called with the number of documents, again whenever it may have changed.
 * @returns element, start(signal), render(), move(step)
 */
export function browser({store, table, fields, counted}) {
  const state = {
    store, table, counted, sequence: null, total: null, first: 0, blocks: new Map(), generation: 0, loading: new Set(), failed: new Map(), signal: null,
  }
  state.sizer = el('div', {class: 'sizer'})
  state.scroller = el('div', {
    class: 'grid scroller', tabindex: '0', role: 'region', 'aria-label': 'Documents', onscroll: () => scrolled(state),
    onkeydown: event => moved(state, event),
  }, el('div', {class: 'window'}, table.element), state.sizer)
  table.sorted('_id', 'ascending')
  table.offer(fields)
  new ResizeObserver(() => {
    state.height = null
    if (state.total !== null) setTotal(state, state.total)
  }).observe(state.scroller)
  return {
    element: state.scroller,
    render: () => render(state),
    /** Scrolls by a row, so that the one beside the first or the last is there. */
    move: step => setFirst(state, state.first + step),
    /** Shows the documents, and follows their changes until the signal; `ready` is called when their number is known. */
    async start(signal, sequence, ready) {
      state.signal = signal
      // The number of documents that the database has is not the one that the user sees.
      const total = async () => (await get(path(store, '_all_docs') + '?limit=0', signal)).total_rows
      if (state.sequence !== sequence) state.generation++
      state.sequence = sequence
      setTotal(state, await total())
      ready()
      return repeat(2000, signal, async () => {
        const info = await get(path(store), signal)
        // What could not be fetched before is fetched now.
        if (info.update_seq === state.sequence) return fetchSoon(state)
        state.sequence = info.update_seq
        // What is shown stays until the new rows are there.
        state.generation++
        setTotal(state, await total())
      })
    },
  }
}

// MARK: Scrolling

/** The height of a row. On a phone it is a card, and there is no row with the names of the columns. */
function rowHeight(state) {
  if (!state.height) {
    // In a container whose width styles depend on, the properties are there after the layout.
    if (!state.scroller.clientHeight) return 32
    const style = getComputedStyle(state.scroller)
    ;[state.height, state.headRows] = [parseFloat(style.getPropertyValue('--row')) || 32, parseFloat(style.getPropertyValue('--head'))]
  }
  return state.height
}

function rowsSeen(state) {
  const rows = Math.floor(state.scroller.clientHeight / rowHeight(state))
  return Math.max(1, rows - (state.headRows ?? 1))
}

function greatestFirst(state) { return Math.max(0, state.total - rowsSeen(state)) }

function setTotal(state, total) {
  state.total = total
  state.counted(total)
  // In a part of the page that is not shown, nothing has a height.
  if (!state.scroller.isConnected) return
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
  if (!state.scroller.isConnected || !state.signal) return
  const seen = rowsSeen(state) + 1
  state.table.measure((state.blocks.get(Math.floor(state.first / blockSize))?.rows ?? []).flatMap(row => row.doc ?? []))
  const rows = []
  for (let at = state.first; at < Math.min(state.first + seen, state.total); at++) rows.push(rowOf(state, at))
  state.table.show(rows)
  state.table.element.setAttribute('aria-rowcount', state.total + 1)
  fetchSoon(state)
}

function rowOf(state, at) {
  const entry = state.blocks.get(Math.floor(at / blockSize))?.rows[at % blockSize]
  const place = {'aria-rowindex': at + 2}
  return entry ? state.table.row(entry, place)
    : el('tr', place, el('td', {class: 'waiting'}, '…'), Array.from({length: state.table.columns.length}, () => el('td')))
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
        rows.push({id: row.get('id'), doc: row.get('doc'), length: text.length})
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
