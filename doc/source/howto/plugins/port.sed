# The import lines of a Heat plugin, as they are here:  sed -E -i -f port.sed plugin.py
s/^( *)(from|import) heat\.engine\.resources\.openstack\b/\1\2 heatconv.resources/
s/^( *)(from|import) heat\.(engine\.resources|engine|common)\b/\1\2 heatconv.resources/
