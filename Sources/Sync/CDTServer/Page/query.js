// A query: written with completion, run as its results come or live, explained, and copied.
import {button, choice, copy, count, during, el, fill, labeled, say, tell, text, visible} from './dom.js'
import {get, path, post, postForDocuments, Refusal} from './api.js'
import {line, parse, swift} from './json.js'
import {copyJSON, jsonView} from './jsonview.js'
import {grid, pathsOf} from './grid.js'
import {editor} from './editor.js'
import {fieldsOf, isKnown, namesOf, nearest} from './names.js'
import {showPlan} from './plan.js'
import {bulkMenu, countOf} from './bulk.js'
import {historyMenu, keepQuery} from './history.js'
import {follow, gather} from './running.js'
import {link, remember, returnToPlace} from './router.js'

/** More results are not kept in the page. */
const maximumResults = 500
const firstColumns = 8

export async function showQuery({main, store, parameters, signal}) {
  // Whoever may not read the store has nothing to write a query for.
  await get(path(store), signal)
  const state = {store, signal, form: 'Table', docs: [], hints: [], running: null}
  state.selector = editor({label: 'Selector', value: parameters.get('selector') ?? '{}', rows: 2, names: begun => (begun.startsWith('$') ? state.names.operators : state.names.fields).filter(name => name.startsWith(begun))})
  state.sort = el('input', {value: parameters.get('sort') ?? '', placeholder: 'age:desc, name', spellcheck: 'false'})
  state.fields = el('input', {value: parameters.get('fields') ?? '', placeholder: 'all', spellcheck: 'false'})
  state.limitField = el('input', {type: 'number', min: '1', max: `${maximumResults}`, value: parameters.get('limit') ?? '50'})
  state.skip = Math.max(0, Number(parameters.get('skip')) || 0)
  state.live = el('input', {type: 'checkbox', checked: parameters.has('live'), onchange: () => liveChanged(state)})
  state.results = el('div', {id: 'results'})
  state.summary = el('p', {id: 'summary', 'aria-live': 'polite'})
  state.plan = el('div', {id: 'plan'})
  state.hint = el('p', {class: 'notice', role: 'alert', hidden: true})
  state.grid = grid({
    label: 'Results', store, 'aria-describedby': 'summary', onchange: () => showResults(state), onsort: name => sortBy(state, name),
  })
  state.frame = el('div', {class: 'grid', tabindex: '0', role: 'region', 'aria-label': 'Results'}, state.grid.element)
  state.history = historyMenu(store, query => {
    for (const [name, field] of Object.entries(fieldsOfForm(state))) field.value = query[name] ?? ''
    state.skip = 0
    return run(state)
  })
  const submit = el('button', {title: 'Ctrl+Enter'}, 'Run')
  const form = el('form', {
    onsubmit: event => {
      event.preventDefault()
      state.skip = 0
      during(submit, () => run(state))
    },
  }, state.selector.element,
  el('div', {class: 'row'}, labeled('Sort', state.sort), labeled('Fields', state.fields), labeled('Limit', state.limitField),
    el('label', {class: 'check'}, state.live, 'Live')),
  el('div', {class: 'row'}, submit, button('Explain', () => explain(state)), button('Format', () => state.selector.format()), state.history,
    button('Copy as Swift', () => copyAs(state, 'Swift')), button('Copy as a command', () => copyAs(state, 'command')),
    button('Copy as a fixture', () => copyAs(state, 'fixture'))))
  fill(main, el('h1', {}, 'Query'), el('div', {class: 'halves'}, el('div', {}, form, state.hint), state.plan),
    el('div', {class: 'row'}, state.summary, choice('Show as', 'form', ['Table', 'JSON'], state.form, form => {
      state.form = form
      showResults(state)
    }), state.grid.menu, bulkMenu(store, () => {
      if (!state.wanted) throw new Error('No results are shown; press Run first.')
      return unpaged(state.wanted)
    }, () => start(state))), state.results)
  state.names = {fields: [], operators: []}
  namesOf(store, signal).then(names => {
    state.names = names
    state.selector.offer()
    showHint(state)
    if (state.end) summarize(state)
  }, tell)
  if (parameters.has('selector')) await run(state, false)
}

function fieldsOfForm({selector, sort, fields}) { return {selector, sort, fields} }

// MARK: The request

/** The request as JSON, with the selector as it was written. */
function request(state) {
  let selector
  try {
    selector = parse(state.selector.value)
    if (!(selector instanceof Map)) throw new Error('A selector is an object in braces.')
  } catch (error) {
    state.selector.fail(error)
    throw new DOMException('', 'AbortError')
  }
  const wanted = new Map([['selector', selector]])
  const sort = sortOf(state.sort.value, state.names?.fields ?? [])
  if (sort.length) wanted.set('sort', sort)
  const fields = list(state.fields.value)
  if (fields.length) wanted.set('fields', fields)
  if (hasNear(selector)) wanted.set('distance', true)
  wanted.set('limit', Math.min(maximumResults, Math.max(1, Number(state.limitField.value) || 50)))
  if (state.skip) wanted.set('skip', state.skip)
  return wanted
}

/** Whether a selector has a `$near`, so that its results have a distance. */
function hasNear(selector) {
  return [...selector].some(([name, value]) => name === '$and' && Array.isArray(value) ? value.some(member => member instanceof Map && hasNear(member))
    : value instanceof Map && value.has('$near'))
}

function list(value) { return value.split(',').map(name => name.trim()).filter(Boolean) }

/** `age:desc, name` as a sort. */
function sortOf(value, known) {
  return list(value).map(word => {
    const [, name, direction] = /^(.*?)(?::(asc|desc))?$/.exec(word)
    if (!direction && !known.includes(word)) {
      const [, sign, field] = /^([-+]?)(.+?)(?::(?:a|de)sc(?:ending)?)?$/i.exec(word)
      if (field !== word) {
        throw new Error(`"${word}" is not a sort; write ${field}${sign === '-' || /:d/i.test(word) ? ':desc' : ''}`)
      }
    }
    return new Map([[name, direction ?? 'asc']])
  })
}

/** The names and directions of a sort. */
function termsOf(wanted) { return (wanted?.get('sort') ?? []).map(term => [...term][0]) }

/** A request for all pages. */
function unpaged(wanted) { return new Map([...wanted].filter(([name]) => name !== 'limit' && name !== 'skip')) }

/** The fields of the selector that no document has, as far as the fields are known. */
function unknownFields(state, wanted = state.wanted) {
  const all = fieldsOf(wanted?.get('selector')).filter(({name}) => !isKnown(name, state.names.fields))
  // A member of an object that is unknown is not one more.
  return all.filter(({prefix}) => !all.some(({name}) => prefix.startsWith(`${name}.`)))
}

/** Whether there are no results because of fields that no document has, or values of other types: an index would not help. */
function isMisspelled(state) { return !state.docs.length && (unknownFields(state).length > 0 || state.hints.length > 0) }

function rememberQuery(state, isNew) {
  const parameters = {selector: state.selector.value}
  if (state.sort.value) parameters.sort = state.sort.value
  if (state.fields.value) parameters.fields = state.fields.value
  if (state.limitField.value !== '50') parameters.limit = state.limitField.value
  if (state.skip) parameters.skip = state.skip
  state.parameters = parameters
  rememberLive(state, isNew)
}

function rememberLive({live, store, parameters}, isNew = false) {
  remember(link(store, 'query', live.checked ? {...parameters, live: '1'} : parameters), isNew)
}

// MARK: Results

async function run(state, isNew = true) {
  state.selector.clear()
  try {
    state.wanted = request(state)
  } catch (error) {
    forget(state)
    throw error
  }
  rememberQuery(state, isNew)
  keepQuery(state.store, Object.fromEntries(Object.entries(fieldsOfForm(state)).map(([name, field]) => [name, field.value])))
  state.history.update()
  fill(state.plan)
  await start(state)
}

/** Shows the results of the query that was run last. */
async function start(state) {
  const {wanted} = state
  state.skip = wanted.get('skip') ?? 0
  state.running?.abort()
  state.running = new AbortController()
  const signal = AbortSignal.any([state.signal, state.running.signal])
  const sort = sortedBy(state)
  state.hints = []
  state.grid.sorted(sort?.name, sort?.direction === 'desc' ? 'descending' : 'ascending')
  showHint(state)
  const query = line(unpaged(wanted))
  if (query !== state.query || state.skip === 0) [state.query, state.starts] = [query, new Map()]
  state.docs = []
  state.total = state.end = null
  const failed = error => { if (!signal.aborted) refused(state, error) }
  if (state.live.checked) follow(state.store, wanted, signal, docs => showLive(state, docs)).catch(failed)
  else await once(state, wanted, signal).catch(failed)
}

/** Says which fields no document has, and which ones may be meant; where all are known, what the server says about their values. */
function showHint(state) {
  const {names, wanted, hint} = state
  const none = name => `None of the first 1,000 documents has the field "${visible(name, 100)}"`
  const sort = termsOf(wanted).map(([name]) => name).filter(name => !isKnown(name, names.fields))
  const parts = [
    ...sort.map(name => [`${none(name)} of the sort${meant(name, names.fields) || '.'} `]),
    ...unknownFields(state).map(({name, place, prefix}) => {
      const field = nearest(name, names.fields)
      return [`${none(name)}${meant(name, names.fields) || '.'} `, field?.startsWith(prefix) && button(`Use ${visible(field, 60)}`, () => {
        replaceName(state.selector, place, field.slice(prefix.length))
        state.selector.area.focus()
        state.skip = 0
        return run(state)
      })]
    }),
  ]
  if (!parts.length) parts.push(...state.hints.map(text => [visible(text, 500)]))
  fill(hint, parts.map(part => el('div', {class: 'row'}, part)))
  hint.hidden = !parts.length
}

function meant(name, fields) {
  const field = nearest(name, fields)
  return field && `; did you mean "${visible(field, 100)}"?`
}

/** Writes another name at a place of the selector. */
function replaceName(selector, place, name) {
  let range
  parse(selector.value, (path, start, end) => { if (path.join('\n') === place.join('\n')) range ??= [start, end] })
  selector.value = selector.value.slice(0, range[0]) + JSON.stringify(name) + selector.value.slice(range[1])
}

function refused(state, error) {
  if (error.name === 'AbortError') return
  forget(state)
  complain(state, error)
}

/** Drops the results, of which nothing can be done any more. */
function forget(state) {
  state.running?.abort()
  state.wanted = state.end = null
  state.docs = []
  fill(state.summary)
  fill(state.results)
  state.hint.hidden = true
}

function complain(state, error) {
  if (error instanceof Refusal && error.status === 400) state.selector.fail(error)
  else tell(error)
}

async function once(state, wanted, signal) {
  fill(state.summary, 'Running…')
  const {store, docs, starts} = state
  state.end = await gather(store, wanted, docs, starts, signal, () => {
    showResults(state)
    if (docs.length) fill(state.summary, `Running… ${count(docs.length, 'result')} so far.`)
  })
  showResults(state)
  summarize(state)
  returnToPlace()
  // The results are there, whatever becomes of their number.
  countAll(state, wanted, signal)
  if (!docs.length && !state.skip) explainNone(state, wanted, signal).catch(error => { if (!signal.aborted) tell(error) })
}

/** Says why a query finds nothing, as the command line does. */
async function explainNone(state, wanted, signal) {
  const {hints} = await post(path(state.store, '_explain') + '?hints=true', line(wanted), signal)
  state.hints = hints
  showHint(state)
  summarize(state)
}

/** The number of all results, of which the page shows some. */
async function countAll(state, wanted, signal) {
  try {
    const total = await countOf(state.store, wanted.get('selector'), signal)
    if (signal.aborted) return
    state.total = total
    summarize(state)
  } catch (error) {
    // A selector with members that the server adds is not counted.
    if (error.status !== 501 && !signal.aborted) tell(error)
  }
}

function summarize(state) {
  const [first, last] = [state.skip + 1, state.skip + state.docs.length]
  const shown = state.docs.length ? `Results ${first.toLocaleString('en')} to ${last.toLocaleString('en')}` : 'No results'
  const {time, warning, documents, keys} = state.end
  const limit = state.wanted.get('limit')
  const focused = focusedIn(state.summary)
  fill(state.summary, `${shown}${state.total === null ? '' : ` of ${state.total.toLocaleString('en')}`}, in ${time.toFixed(1)} ms${isNaN(documents) ? '' : `; ${count(documents, 'document')} and ${count(keys, 'index row')} read`}. `,
    state.skip > 0 && button('Previous page', () => turn(state, -limit)), ' ',
    (state.total === null ? state.docs.length === limit : last < state.total) && button('Next page', () => turn(state, state.docs.length)),
    warning && !isMisspelled(state) && el('span', {class: 'notice'}, ` ${warning} `))
  focusIn(state.summary, focused)
}

/** The label of the button that has the focus. */
function focusedIn(element) { return element.contains(document.activeElement) ? document.activeElement.textContent : null }

function focusIn(element, label) { [...element.querySelectorAll('button')].find(button => button.textContent === label)?.focus() }

async function turn(state, step) {
  const focused = focusedIn(state.summary)
  state.skip = Math.max(0, state.skip + step)
  await run(state)
  focusIn(state.summary, focused)
}

function showLive(state, docs) {
  state.docs = docs
  showResults(state)
  fill(state.summary, `Live: ${count(docs.length, 'result')}, as of ${new Date().toLocaleTimeString()}. `,
    button('Stop', () => {
      state.live.checked = false
      state.selector.area.focus()
      return liveChanged(state)
    }))
}

/** Follows the query whose results are shown, or stops that. */
function liveChanged(state) {
  if (!state.wanted) return
  rememberLive(state)
  if (state.live.checked) return start(state)
  state.running.abort()
  fill(state.summary, 'Stopped.')
}

function showResults(state) {
  const {docs, form, store} = state
  const linked = id => el('a', {href: link(store, 'document', {id})}, text(id || '(empty)', 120))
  const open = ({id}) => id === undefined ? '' : linked(id)
  if (!docs.length) return fill(state.results)
  if (form === 'JSON') {
    return fill(state.results, el('ol', {class: 'documents'}, docs.map(entry => el('li', {},
      el('div', {class: 'row'}, open(entry), entry.doc && copyJSON(entry.doc)),
      entry.doc ? jsonView(entry.doc, {limit: 5_000, 'aria-label': 'A result'}) : el('p', {}, `${count(entry.length, 'character')}, too long to be shown`)))))
  }
  const whole = docs.flatMap(entry => entry.doc ?? [])
  const added = state.wanted.has('distance') ? ['_distance'] : []
  const fields = (state.wanted.get('fields') ?? []).filter(name => name !== '_id')
  state.grid.offer([...new Set([...added, ...fields, ...pathsOf(whole)])], added.length + (fields.length || firstColumns))
  state.grid.measure(whole)
  state.grid.show(docs.map(entry => el('tr', {}, el('td', {title: visible(entry.id ?? '', 300)}, open(entry)), entry.doc ? state.grid.cells(entry.doc)
    : el('td', {class: 'waiting', colspan: state.grid.columns.length}, `${count(entry.length, 'character')} of JSON, too long for a row`))))
  if (!state.frame.isConnected) fill(state.results, state.frame)
}

/** Sorts by a column: in its order, then in the reverse one, then not. Results without a sort are in the order of their distance. */
function sortBy(state, name) {
  const {sort} = state
  const before = sortedBy(state)
  sort.value = name === '_distance' ? '' : before?.name !== name ? name : before.direction === 'asc' ? `${name}:desc` : ''
  state.skip = 0
  return run(state).catch(tell)
}

/** The first field of the sort. */
function sortedBy(state) {
  const [term] = termsOf(state.wanted)
  return term && {name: term[0], direction: term[1]}
}

// MARK: The plan

async function explain(state) {
  state.selector.clear()
  const wanted = request(state)
  rememberQuery(state)
  try {
    await showPlan(state.plan, state.store, wanted, state.signal, plan => plan.matched || !unknownFields(state, wanted).length,
      // What is said of the results is said again, with the index.
      () => state.end && start(state))
    state.plan.querySelector('h2').focus()
  } catch (error) {
    complain(state, error)
  }
}

// MARK: Copies

async function copyAs(state, form) {
  const wanted = request(state)
  const copied = {Swift: asSwift, command: asCommand, fixture: asFixture}[form]
  const result = await copied(wanted, state)
  const view = el('pre', {class: 'json', tabindex: '0', 'aria-label': `The query as ${form}`}, result)
  fill(state.plan, el('h2', {tabindex: '-1'}, `The query as ${form === 'Swift' ? form : `a ${form}`}`), view)
  if (await copy(result)) return say('Copied.')
  // Without TLS, only pages of this machine may write to the clipboard.
  getSelection().selectAllChildren(view)
  say('Selected; copy it with the keyboard.')
}

function asSwift(wanted) {
  const parts = [swift(wanted.get('selector'))]
  if (wanted.has('skip')) parts.push(`skip: ${wanted.get('skip')}`)
  parts.push(`limit: ${wanted.get('limit')}`)
  if (wanted.has('fields')) parts.push(`fields: ${swift(wanted.get('fields'))}`)
  if (wanted.has('sort')) {
    const terms = termsOf(wanted).map(([name, direction]) => direction === 'desc' ? `.descending(${swift(name)})` : swift(name))
    parts.push(`sort: [${terms.join(', ')}]`)
  }
  return `let documents = try store.find(${parts.join(', ')})`
}

async function asCommand(wanted, state) {
  const {directory} = await get('/', state.signal)
  const place = directory ? `${directory}/${encodeURIComponent(state.store)}` : location.origin + path(state.store)
  const words = ['cdtquery', 'find', place, line(wanted.get('selector'))]
  if (wanted.has('sort')) words.push('--sort', termsOf(wanted).map(([name, direction]) => direction === 'desc' ? `${name}:desc` : name).join(','))
  if (wanted.has('skip')) words.push('--skip', String(wanted.get('skip')))
  words.push('--limit', String(wanted.get('limit')))
  if (wanted.has('fields')) words.push('--fields', wanted.get('fields').join(','))
  if (wanted.has('distance')) words.push('--distance')
  return words.map(word => /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`).join(' ')
}

/** The query with its results as a golden file of cdtquery test. */
async function asFixture(wanted, state) {
  const body = new Map(wanted)
  body.delete('fields')
  const docs = (await postForDocuments(path(state.store, '_find'), line(body), state.signal)).get('docs')
  const plain = docs.map(doc => new Map([...doc].filter(([name]) => name === '_id' || !name.startsWith('_'))))
  const ids = docs.map(doc => doc.get('_id')).map(id => /^[\w.-]+$/.test(id) && id !== 'none' ? id : JSON.stringify(id))
  const asked = new Map([['selector', wanted.get('selector')]])
  if (wanted.has('sort')) asked.set('sort', wanted.get('sort'))
  return ['== documents', ...plain.map(line), '', `== ${state.store}`,
    line(asked.size > 1 ? asked : wanted.get('selector')), '----', ids.join(' ') || 'none', ''].join('\n')
}
