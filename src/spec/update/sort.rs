//! `add-sort-order`, `set-default-sort-order` (spec.md 2.3).

use super::apply::Change;
use crate::spec::error::{Error, Result};
use crate::spec::sort::{SortOrder, UNSORTED_ID};

impl Change<'_> {
    /// Adds a sort order under a number of its own, or finds the equal one. The order without fields is number 0.
    pub(super) fn add_sort_order(&mut self, order: &SortOrder) -> Result<()> {
        let schema = self.metadata.current_schema();
        let schema = schema.ok_or_else(|| Error::invalid("Cannot add a sort order before a schema is added"))?;
        order.check_against(schema)?;
        if let Some(equal) = self.metadata.sort_orders.iter().find(|known| known.same_as(order)) {
            self.order_ids.reuse(equal.order_id);
            return Ok(());
        }
        let id = if order.is_unsorted() {
            self.order_ids.reuse(UNSORTED_ID);
            UNSORTED_ID
        } else {
            self.order_ids.next("sort order")?
        };
        self.metadata.sort_orders.push(order.clone().with_id(id));
        self.changed = true;
        Ok(())
    }

    pub(super) fn set_default_sort_order(&mut self, order_id: i32) -> Result<()> {
        let none = "Cannot set last added sort order: no sort order has been added";
        let id = self.order_ids.resolve(order_id, none)?;
        if id == self.metadata.default_sort_order_id {
            return Ok(());
        }
        if self.metadata.sort_order(id).is_none() {
            return Err(Error::invalid(format!("Cannot set default sort order to unknown sort order: {id}")));
        }
        self.metadata.default_sort_order_id = id;
        self.changed = true;
        Ok(())
    }
}
