-- Shows on the board what agents have done: a card whose lease was completed gets the label
-- "done-by-agent" ("done-by-integration" when a person's token did it), and besides that the
-- label that the result names: {"label": "needs-review"}.

local by_whom = {agent = "done-by-agent", user = "done-by-integration"}

svc.after("lease.completed", function(event)
  local labels = {by_whom[event.actor.principal_type] or "done-by-automation"}
  local result = event.data.changes.result
  if type(result) == "table" and type(result.label) == "string" then
    labels[#labels + 1] = result.label
  end

  local card, refusal = svc.update_card{
    card_id = event.data.card_id,
    labels = labels,
    merge_properties = true, -- beside the labels it has
  }
  if not card then
    svc.log("not labelled:", refusal.message)
  end
end)
