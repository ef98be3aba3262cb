// The results of a query, as they come or live: as a table or as cards, in pages, with what was read for them.
import {button, copyButton, count, el, fill, icon, tell, text, visible} from './dom.js'
import {path, post} from './api.js'
import {countOf} from './bulk.js'
import {pathsOf} from './grid.js'
import {line, pretty} from './json.js'
import {jsonView} from './jsonview.js'
import {termsOf, unpaged} from './request.js'
import {follow, gather} from './running.js'
import {link, returnToPlace} from './router.js'

/**
 * @param table The grid of the results.
 * @param form The form of the query, which shows hints.
 * @param turn Called with the `skip` of another page.
 * @param explain Called when the plan is asked for.
 * @param refused Called with an error of the server.
 * @returns element, summary, start(wanted, isLive), show(as), stop(), forget(), wanted, end
 */
export function resultList({store, signal, table, form, turn, explain, refused}) {
  const element = el('div', {id: 'results'})
  const summary = el('p', {id: 'summary', 'aria-live': 'polite'})
  const frame = el('div', {class: 'grid', tabindex: '0', role: 'region', 'aria-label': 'Results'}, table.element)
  const state = {docs: [], hints: [], running: null, as: 'Table', wanted: null, end: null, total: null, plan: null, query: null, starts: new Map()}

  const self = {
    element, summary,
    get wanted() { return state.wanted },
    get end() { return state.end },
    show(as) {
      state.as = as
      showResults()
    },
    /** Shows the results of a request; with `isLive`, again after each commit. */
    async start(wanted, isLive) {
      state.running?.abort()
      state.running = new AbortController()
      const current = AbortSignal.any([signal, state.running.signal])
      const [sort] = termsOf(wanted)
      Object.assign(state, {wanted, hints: [], docs: [], total: null, end: null, plan: null})
      table.sorted(sort?.[0], sort?.[1] === 'desc' ? 'descending' : 'ascending')
      form.showHint(wanted)
      const query = line(unpaged(wanted))
      if (query !== state.query || !wanted.has('skip')) Object.assign(state, {query, starts: new Map()})
      const failed = error => { if (!current.aborted) refused(error) }
      if (isLive) follow(store, wanted, current, showLive).catch(failed)
      else await once(wanted, current).catch(failed)
    },
    stop() {
      state.running?.abort()
      fill(summary, 'Stopped.')
    },
    /** Drops the results, of which nothing can be done any more. */
    forget() {
      state.running?.abort()
      Object.assign(state, {wanted: null, end: null, docs: []})
      fill(summary)
      fill(element)
      form.hint.hidden = true
    },
  }

  async function once(wanted, current) {
    fill(summary, 'Running…')
    const {docs, starts} = state
    state.end = await gather(store, wanted, docs, starts, current, () => {
      showResults()
      if (docs.length) fill(summary, `Running… ${count(docs.length, 'result')} so far.`)
    })
    showResults()
    summarize()
    returnToPlace()
    // The results are there, whatever becomes of their number and of what is said of them.
    countAll(wanted, current)
    nameSource(wanted, current)
    if (!docs.length && !wanted.get('skip')) explainNone(wanted, current).catch(error => { if (!current.aborted) tell(error) })
  }

  /** Says why a query finds nothing, as the command line does. */
  async function explainNone(wanted, current) {
    const {hints} = await post(path(store, '_explain') + '?hints=true', line(wanted), current)
    state.hints = hints
    form.showHint(wanted, hints)
    summarize()
  }

  /** The number of all results, of which the page shows some. */
  async function countAll(wanted, current) {
    // Groups compare strings by their bytes.
    if (wanted.has('collation')) return
    try {
      const total = await countOf(store, wanted.get('selector'), current)
      if (current.aborted) return
      state.total = total
      summarize()
    } catch (error) {
      // A selector with members that the server adds is not counted.
      if (error.status !== 501 && !current.aborted) tell(error)
    }
  }

  /** The index that was used, for the chip. */
  async function nameSource(wanted, current) {
    try {
      state.plan = (await post(path(store, '_explain'), line(wanted), current)).plan
      summarize()
    } catch {
      // The chip says what was read.
    }
  }

  /** Whether there are no results because of fields that no document has, or values of other types: an index would not help. */
  function isMisspelled() { return !state.docs.length && (form.unknownFields(state.wanted).length > 0 || state.hints.length > 0) }

  function summarize() {
    const skip = state.wanted.get('skip') ?? 0
    const [first, last] = [skip + 1, skip + state.docs.length]
    const shown = state.docs.length ? `Results ${first.toLocaleString('en')} to ${last.toLocaleString('en')}` : 'No documents match'
    const [limit, {warning}] = [state.wanted.get('limit'), state.end]
    const focused = summary.contains(document.activeElement) ? document.activeElement.textContent : null
    fill(summary, `${shown}${state.total === null || !state.docs.length ? '' : ` of ${state.total.toLocaleString('en')}`} `,
      skip > 0 && button('Previous page', () => turned(Math.max(0, skip - limit)), {class: 'quiet'}), ' ',
      (state.total === null ? state.docs.length === limit : last < state.total) && button('Next page', () => turned(skip + state.docs.length), {class: 'quiet'}), ' ',
      chip(), warning && !isUnindexed(warning) && el('span', {class: 'notice'}, ` ${warning} `))
    if (focused) [...summary.querySelectorAll('button')].find(button => button.textContent === focused)?.focus()
  }

  /** What was read and how long it took, which opens the plan. */
  function chip() {
    const {time, documents, keys, warning} = state.end
    const parts = [isUnindexed(warning) ? 'no index' : state.plan && visible(state.plan.source, 80), !isNaN(documents) && `${count(documents, 'document')} read`, `${time.toFixed(1)} ms`]
    return button([icon('explain'), parts.filter(Boolean).join(' · ')], explain, {
      id: 'chip', class: isUnindexed(warning) && !isMisspelled() ? 'read slow' : 'read', 'aria-description': 'Explains the query',
      title: `Explain${isNaN(keys) ? '' : `; ${count(keys, 'index row')} read`}${warning ? `. ${warning}` : ''}`,
    })
  }

  async function turned(skip) {
    const {textContent} = document.activeElement
    await turn(skip)
    ;[...summary.querySelectorAll('button')].find(button => button.textContent === textContent)?.focus()
  }

  function showLive(docs) {
    state.docs = docs
    showResults()
    fill(summary, el('span', {class: 'live-dot', 'aria-hidden': 'true'}), `Live: ${count(docs.length, 'result')}, as of ${new Date().toLocaleTimeString()}`)
  }

  function showResults() {
    const {docs, as} = state
    if (!docs.length) return fill(element)
    if (as === 'JSON') {
      return fill(element, el('ol', {class: 'documents cards'}, docs.map(entry => el('li', {class: 'card'},
        el('div', {class: 'row'}, entry.id === undefined ? '' : el('a', {href: link(store, 'document', {id: entry.id})}, text(entry.id || '(empty)', 120)), entry.doc && copyButton(() => pretty(entry.doc))),
        entry.doc ? jsonView(entry.doc, {limit: 5_000, 'aria-label': 'A result'}) : el('p', {}, `${count(entry.length, 'character')}, too long to be shown`)))))
    }
    const whole = docs.flatMap(entry => entry.doc ?? [])
    const added = state.wanted.has('distance') ? ['_distance'] : []
    const fields = (state.wanted.get('fields') ?? []).filter(name => name !== '_id')
    const found = pathsOf(whole).filter(({path}) => !fields.includes(path))
    const named = [...added, ...fields].map(path => ({path, share: 1}))
    table.offer([...named, ...found], fields.length ? named.length : null)
    table.measure(whole)
    table.show(docs.map(entry => table.row(entry)))
    if (!frame.isConnected) fill(element, frame)
  }

  return self
}

/** Whether a warning says that no index was used, which the chip says. */
function isUnindexed(warning) { return warning?.startsWith('No matching index') ?? false }
