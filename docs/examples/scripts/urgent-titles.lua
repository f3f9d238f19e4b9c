-- A card whose title begins with "URGENT" is urgent.
svc.after("card.created", function(event)
  if not event.data.changes.title:find("^URGENT") then return end
  svc.update_card{card_id = event.data.id, priority = "urgent"}
end)
