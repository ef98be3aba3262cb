// The documents of a store: all of them, or those that a filter finds, as a table or as cards, with the one that is open beside them.
import {button, choice, count, el, fileInput, fill, icon, say, tell} from './dom.js'
import {get, path, Refusal, save, winner} from './api.js'
import {browser} from './browse.js'
import {bulkMenu} from './bulk.js'
import {copyMenu} from './copies.js'
import {filterForm} from './filter.js'
import {grid, namesInPath, valueAt} from './grid.js'
import {historyMenu, keepQuery} from './history.js'
import {importFile, takeDrops} from './import.js'
import {isSame, line} from './json.js'
import {namesOf} from './names.js'
import {showPlan} from './plan.js'
import {isPlain, termsOf, unpaged, usualLimit} from './request.js'
import {resultList} from './results.js'
import {link, mayLeave, remember, returnToPlace, showInside} from './router.js'
import {setAt} from './updates.js'

/** A document is opened beside the others in a window that is so wide, and in their place otherwise. */
const wide = matchMedia('(min-width: 60rem)')
/** The time for which a row must have the focus before its document is shown, while another one is. */
const pause = 150

export async function showDocuments({main, store, parameters, signal}) {
  const [info, names] = await Promise.all([get(path(store), signal), namesOf(store, signal)])
  const state = {
    store, signal, as: parameters.get('as') === 'JSON' ? 'JSON' : 'Table', skip: Math.max(0, Number(parameters.get('skip')) || 0),
    sequence: info.update_seq, opened: null, wanted: null, asked: null, browsing: null, opening: null,
  }
  const parameter = (name, usual = '') => parameters.get(name) ?? usual
  state.plan = el('div', {id: 'plan'})
  state.history = historyMenu(store, query => {
    state.form.values = query
    return runAgain(state)
  }, () => state.form.values)
  state.form = filterForm({
    menus: [state.history, copyMenu(store, () => state.wanted ?? state.form.request(state.skip), state.plan, signal)], names, run: () => runAgain(state),
    values: {filter: parameter('selector'), sort: parameter('sort'), fields: parameter('fields'), limit: parameter('limit', `${usualLimit}`), collation: parameter('collation')},
  })
  build(state, main, parameters.has('live'), sharesOf(names))
  takeDrops(signal, file => importFile(file, {store, signal}))
  const running = run(state, false)
  if (parameters.has('open')) open(state, parameters.get('open'), false).catch(tell)
  await running
}

/** The paths of the fields that are columns, the frequent ones first. An object has its members as columns, and an array is one. */
function sharesOf({summary, documents}) {
  return summary.filter(field => !field.path.includes('[]') && Object.keys(field.types).join() !== 'object')
    .sort((a, b) => b.documents - a.documents).map(field => ({path: field.path, share: field.documents / documents}))
}

function build(state, main, isLive, fields) {
  const {store, signal, form} = state
  const common = {
    store, onopen: id => open(state, id).catch(tell), onedit: (...change) => saveCell(state, ...change), onsort: name => sortBy(state, name),
  }
  state.counted = el('p', {id: 'document-count', role: 'status'})
  const all = grid({label: 'Documents', 'aria-describedby': 'document-count', onchange: () => state.browser.render(), onmove: (row, step) => state.browser.move(step), ...common})
  const found = grid({label: 'Results', 'aria-describedby': 'summary', onchange: () => state.results.show(state.as), onmove: row => row.scrollIntoView({block: 'nearest'}), ...common})
  state.grids = {all, found}
  state.browser = browser({store, table: all, fields, counted: total => showCount(state, total)})
  state.results = resultList({
    store, signal, table: found, form, explain: () => explain(state), refused: error => refused(state, error),
    turn: skip => {
      state.skip = skip
      return run(state)
    },
  })
  state.live = el('input', {type: 'checkbox', checked: isLive, onchange: () => liveChanged(state)})
  state.columns = el('span')
  state.list = el('div', {class: 'list', onkeydown: event => escaped(state, event)})
  state.panel = el('aside', {class: 'panel', 'aria-label': 'The open document', hidden: true, onkeydown: event => escaped(state, event)})
  const isFound = wanted => wanted && !isPlain(wanted)
  fill(main, el('h1', {class: 'hidden'}, 'Documents'), form.element, form.hint,
    el('div', {class: 'row tools'}, state.counted, state.results.summary,
      el('label', {class: 'check live', title: 'Keeps the results as they are after each change'}, state.live, 'Live'),
      choice('Show as', 'form', ['Table', 'JSON'], state.as, as => {
        state.as = as
        rememberQuery(state)
        return state.wanted && show(state)
      }),
      state.columns,
      bulkMenu(store, () => {
        if (!state.wanted) throw new Error('No results are shown; press Run first.')
        return unpaged(state.wanted)
      }, () => isFound(state.wanted) ? state.results.start(state.wanted, state.live.checked) : undefined),
      el('a', {class: 'button edits', href: link(store, 'document', {new: '1'}), 'aria-label': 'Add a document'}, icon('add'), el('span', {class: 'label'}, 'Add a document'))),
    state.plan, el('div', {class: 'split'}, state.list, state.panel))
  state.list.addEventListener('focusin', ({target}) => {
    if (state.opened === null || !target.matches('tbody a')) return
    clearTimeout(state.timer)
    const id = new URLSearchParams(target.hash.split('?')[1]).get('id')
    if (id !== state.opened) state.timer = setTimeout(() => open(state, id, false).catch(tell), pause)
  })
}

function gridOf(state) { return isBrowsing(state) ? state.grids.all : state.grids.found }

function isBrowsing({wanted, as, live}) { return wanted !== null && isPlain(wanted) && as === 'Table' && !live.checked }

/** Says how many documents there are, and what to do if there are none. */
function showCount(state, total) {
  state.counted.textContent = count(total, 'document')
  if (!isBrowsing(state)) return
  if (total) return state.browser.element.isConnected || fill(state.list, state.browser.element)
  const {store, signal} = state
  const file = fileInput(file => importFile(file, {store, signal}))
  if (!state.list.querySelector('.empty')) {
    fill(state.list, el('div', {class: 'empty'}, el('h2', {}, 'This store has no documents yet'), el('p', {class: 'edits'}, 'Drop a file here: JSON, JSON Lines, CSV, or a dump of CouchDB.'),
      el('p', {class: 'row edits'}, file, button('Choose a file…', () => file.click()), el('a', {class: 'button', href: link(store, 'document', {new: '1'})}, 'Add a document'))))
  }
}

// MARK: Running

function runAgain(state) {
  state.skip = 0
  return run(state)
}

/** Runs the query of the form. */
async function run(state, isNew = true) {
  const {form, results} = state
  try {
    state.wanted = form.request(state.skip)
  } catch (error) {
    state.wanted = null
    state.browsing?.abort()
    results.forget()
    fill(state.list, results.element)
    if (error.name !== 'AbortError') tell(error)
    return
  }
  form.showMeaning(line(state.wanted.get('selector')))
  state.asked = form.values
  rememberQuery(state, isNew)
  fill(state.plan)
  if (!isPlain(state.wanted)) {
    keepQuery(state.store, state.asked)
    state.history.update()
  }
  await show(state)
}

/** Shows what the query that was run last finds. */
async function show(state) {
  const {results} = state
  state.browsing?.abort()
  state.browsing = new AbortController()
  const signal = AbortSignal.any([state.signal, state.browsing.signal])
  const isPlainTable = isBrowsing(state)
  fill(state.columns, state.as === 'Table' && gridOf(state).menu)
  state.counted.hidden = !isPlainTable
  results.summary.hidden = isPlainTable
  if (isPlainTable) {
    results.forget()
    fill(state.list, state.browser.element)
    state.browser.start(signal, state.sequence, returnToPlace).catch(error => { if (!signal.aborted) tell(error) })
    return
  }
  fill(state.list, results.element)
  results.show(state.as)
  await results.start(state.wanted, state.live.checked)
  gridOf(state).mark(state.opened ?? undefined)
}

/** Follows the query whose results are shown, or stops that. */
function liveChanged(state) {
  if (!state.wanted) return
  rememberQuery(state)
  if (state.live.checked) return show(state)
  state.results.stop()
}

function refused(state, error) {
  if (error.name === 'AbortError') return
  state.results.forget()
  state.wanted = null
  if (error instanceof Refusal && error.status === 400) state.form.editor.fail(error)
  else tell(error)
}

/** Sorts by a column: in its order, then in the reverse one, then not. Results without a sort are in the order of their distance. */
function sortBy(state, name) {
  const [before] = termsOf(state.wanted)
  // All documents are in the order of their ids.
  const usual = isBrowsing(state) && name === '_id' ? '_id:desc' : name
  state.form.setSort(name === '_distance' ? '' : before?.[0] !== name ? usual : before[1] === 'asc' ? `${name}:desc` : '')
  return runAgain(state).catch(tell)
}

function rememberQuery(state, isNew = false) {
  const {form, store, skip, as, live, opened} = state
  const {filter, sort, fields, limit, collation} = state.asked ?? form.values
  const all = {
    selector: filter.trim() === '{}' ? '' : filter, sort, fields, limit: limit === `${usualLimit}` ? '' : limit, collation, skip: skip || '',
    as: as === 'JSON' ? as : '', live: live.checked ? '1' : '', open: opened ?? '',
  }
  remember(link(store, 'documents', Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))), isNew)
}

async function explain(state) {
  const wanted = state.form.request(state.skip)
  try {
    await showPlan(state.plan, state.store, wanted, state.signal, plan => plan.matched || !state.form.unknownFields(wanted).length,
      // What is said of the results is said again, with the index.
      () => state.results.end && state.results.start(state.results.wanted, state.live.checked))
    state.plan.querySelector('h2').focus()
  } catch (error) {
    refused(state, error)
  }
}

// MARK: The open document

/** Opens a document beside the others. */
async function open(state, id, isNew = true) {
  const {store, panel} = state
  if (!wide.matches) {
    const address = link(store, 'document', {id})
    if (isNew) location.hash = address
    else location.replace(address)
    return
  }
  if (state.opened !== null && state.opened !== id && !panelMayLeave(state)) return
  clearTimeout(state.timer)
  const isFirst = state.opened === null
  state.opened = id
  rememberQuery(state, isFirst && isNew)
  state.opening?.abort()
  state.opening = new AbortController()
  const signal = AbortSignal.any([state.signal, state.opening.signal])
  panel.hidden = false
  const isInTable = gridOf(state).mark(id)
  if (isFirst) isInTable?.scrollIntoView({block: 'nearest'})
  const body = el('div', {class: 'panel-body'})
  const step = (number, label, name) => button([icon(name)], () => {
    const next = gridOf(state).beside(id, number)
    if (next === undefined) throw new Error(number > 0 ? 'This is the last row that is shown.' : 'This is the first row that is shown.')
    return open(state, next, false)
  }, {class: 'quiet', 'aria-label': label, title: label})
  fill(panel, el('div', {class: 'row panel-head'}, step(-1, 'Previous row', 'up'), step(1, 'Next row', 'down'),
    el('a', {class: 'button quiet', href: link(store, 'document', {id}), 'aria-label': 'Open as a page', title: 'Open as a page'}, icon('full')),
    button([icon('close')], () => close(state), {class: 'quiet', 'aria-label': 'Close the document', title: 'Close (Escape)'})), body)
  try {
    await showInside('document', {
      main: body, store, parameters: new URLSearchParams({id}), signal, inPanel: true,
      reload: () => {
        refresh(state)
        return open(state, id, false)
      },
      closed: said => {
        close(state, false)
        refresh(state)
        if (said) say(said)
      },
    })
  } catch (error) {
    if (signal.aborted) return
    if (!body.hasChildNodes()) fill(body, el('p', {class: 'problem'}, error.message))
    tell(error)
  }
}

function panelMayLeave({panel}) { return !panel.querySelector('form[data-unsaved]') || mayLeave() }

function close(state, asks = true) {
  if (state.opened === null || asks && !panelMayLeave(state)) return
  const {opened, panel} = state
  clearTimeout(state.timer)
  state.opening?.abort()
  state.opened = null
  panel.hidden = true
  fill(panel)
  rememberQuery(state)
  const table = gridOf(state)
  table.mark(undefined)
  if (!table.focus(opened)) state.list.querySelector('[tabindex="0"]')?.focus()
}

function escaped(state, event) {
  if (event.key !== 'Escape' || state.opened === null || event.defaultPrevented || event.target.closest('.menu[open], textarea, dialog, [aria-expanded=true]')) return
  event.preventDefault()
  close(state)
}

/** Shows again what the results are; the list of all documents notices changes itself. */
function refresh(state) {
  if (state.wanted && !isBrowsing(state) && !state.live.checked) state.results.start(state.wanted, false).catch(tell)
}

/** Saves a value that was edited in a cell, if nobody has changed it meanwhile; returns the document. */
async function saveCell({store, signal}, id, place, before, value) {
  const doc = await winner(store, id, signal)
  if (!doc || !isSame(valueAt(doc, place), before)) throw new Error('The value was changed meanwhile, and is not saved. Run the query again to see it.')
  doc.delete('_revisions')
  const changed = setAt(doc, namesInPath(place), () => value)
  const [row] = await save(store, line(changed))
  changed.set('_rev', row.rev)
  say('Saved.')
  return changed
}
