rabbitmqctl delete_user guest
rabbitmqctl add_vhost heatconv
rabbitmqctl add_vhost notifications
rabbitmqctl add_user heatconv BUS_SECRET
rabbitmqctl set_permissions --vhost heatconv heatconv ".*" ".*" ".*"
rabbitmqctl set_permissions --vhost notifications heatconv ".*" ".*" ".*"
# Whoever else hears notifications gets nothing in the virtual host heatconv.
rabbitmqctl add_user telemetry TELEMETRY_SECRET
rabbitmqctl set_permissions --vhost notifications telemetry ".*" ".*" ".*"
