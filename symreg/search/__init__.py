"""What all families of the search share: functions of the target, products of powers in
place of columns, the polish of numbers, and description length."""
