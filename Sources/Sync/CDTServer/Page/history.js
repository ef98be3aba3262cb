// The queries that were run and those with a name, which the browser keeps for each store until somebody logs out.
import {asked, button, el, fill, icon, labeled, visible} from './dom.js'

const kept = 30

function read() {
  try { return JSON.parse(localStorage.getItem('queries')) ?? {} } catch { return {} }
}

/** The browser may have no storage for the page. */
function write(queries) {
  try { localStorage.setItem('queries', JSON.stringify(queries)) } catch {}
}

/** Keeps a query as the newest one. */
export function keepQuery(store, query) {
  const queries = read()
  const key = JSON.stringify(query)
  write({...queries, [store]: [query, ...(queries[store] ?? []).filter(other => JSON.stringify(other) !== key)].slice(0, kept)})
}

export function forgetQueries() {
  try { localStorage.removeItem('queries') } catch {}
}

/** Those with a name are kept under that of the store with a mark that no store has. */
const named = store => `${store}!`

/**
 * The queries that were run and those that have a name.
 *
 * @param choose Called with a query that is chosen.
 * @param current Returns the query to give a name to.
 */
export function historyMenu(store, choose, current) {
  const list = el('div')
  const menu = el('details', {class: 'menu'}, el('summary', {}, 'Queries'), list)
  const chosen = query => () => {
    menu.open = false
    return choose(query)
  }
  const change = saved => {
    write({...read(), [named(store)]: saved})
    menu.update()
  }
  const saveAs = () => {
    const name = el('input', {required: true, autocomplete: 'off'})
    const query = current()
    menu.open = false
    asked('Save the query', 'Save', () => {
      change([{...query, name: name.value}, ...(read()[named(store)] ?? []).filter(other => other.name !== name.value)])
    }, null, labeled('Name', name))
  }
  menu.update = () => {
    const {[store]: queries = [], [named(store)]: saved = []} = read()
    fill(list, button('Save the query…', saveAs), saved.length > 0 && el('h3', {}, 'Saved'), saved.map(query => el('div', {class: 'row'},
      button(visible(query.name, 60), chosen(query), {title: visible(titleOf(query), 1_000)}),
      button([icon('close')], () => change(saved.filter(other => other.name !== query.name)), {class: 'quiet', 'aria-label': `Remove ${visible(query.name, 60)}`}))),
    queries.length > 0 && el('h3', {}, 'History'), queries.map(query => button(visible(titleOf(query), 80), chosen(query), {title: visible(titleOf(query), 1_000)})),
    !queries.length && !saved.length && 'No query was run yet.')
  }
  menu.update()
  return menu
}

function titleOf({filter, sort}) { return `${filter.trim().replace(/\s+/g, ' ') || 'all documents'}${sort && `, by ${sort}`}` }
